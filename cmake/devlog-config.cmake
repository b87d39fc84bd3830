# find_package(devlog): the library devlog::devlog, the program devlog::program, and the function devlog_add_kernel.
include(${CMAKE_CURRENT_LIST_DIR}/devlog-targets.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/kernels.cmake)
