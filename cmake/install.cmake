# cmake --install build/release --prefix PREFIX: the program, its man pages, the libraries with what finds them
# (pkg-config devlog, find_package(devlog)), the public headers, and under share/devlog what a program needs to compile
# kernels, found from the program's or the library's own place (host/base/paths.h).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS devlog EXPORT devlog RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS demo RUNTIME DESTINATION lib/devlog) # tried after an installation, with DEVLOG_HOME=PREFIX/share/devlog
install(TARGETS devlog_host ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS devlogsim LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS devlog_shared EXPORT devlog LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET devlog_pmpi)
  install(TARGETS devlog_pmpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(TARGETS devlog_mpi RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(DIRECTORY docs/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 FILES_MATCHING PATTERN "*.1")
install(DIRECTORY docs/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man7 FILES_MATCHING PATTERN "*.7")
install(DIRECTORY include/devlog DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY schema tables boards firmware linker include DESTINATION share/devlog
        FILES_MATCHING PATTERN "*.json" PATTERN "*.h" PATTERN "*.hpp" PATTERN "*.c" PATTERN "*.S" PATTERN "*.ld"
        PATTERN "cstdint" PATTERN "boardgen.c" EXCLUDE)
install(FILES LICENSE docs/cli.md docs/environment.md DESTINATION ${CMAKE_INSTALL_DOCDIR})

# Completion by shells, made by the program of its tables.
set(completion ${PROJECT_BINARY_DIR}/completion)
install(CODE "file(MAKE_DIRECTORY \"${completion}\")
  foreach(shell bash zsh)
    execute_process(COMMAND \"${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/devlog\" man --completion \${shell} OUTPUT_FILE \"${completion}/\${shell}\" COMMAND_ERROR_IS_FATAL ANY)
  endforeach()")
install(FILES ${completion}/bash RENAME devlog DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${completion}/zsh RENAME _devlog DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/devlog)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/devlog-config-version.cmake VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)
install(EXPORT devlog NAMESPACE devlog:: FILE devlog-targets.cmake DESTINATION ${package_folder})
install(FILES ${PROJECT_BINARY_DIR}/devlog-config-version.cmake ${PROJECT_SOURCE_DIR}/cmake/devlog-config.cmake
              ${PROJECT_SOURCE_DIR}/cmake/kernels.cmake ${PROJECT_SOURCE_DIR}/cmake/budgets.cmake DESTINATION ${package_folder})
install(PROGRAMS ${PROJECT_SOURCE_DIR}/cmake/compile-kernel DESTINATION ${package_folder})

# The prefix is that of the installation, which may be moved: pkg-config works it out from the file's own place.
file(RELATIVE_PATH to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
# libdevlog.a holds no other archive.
if(DEVLOG_ITT_LINKS)
  set(DEVLOG_ITT_FLAGS "${DEVLOG_ITT_LIBRARY} ")
endif()
foreach(name devlog devlog-static)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/${name}.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
