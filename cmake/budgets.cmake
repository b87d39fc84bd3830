# devlog_add_budget_test(NAME FILE COMMAND PROGRAM [ARGUMENT...])
#
# A ctest test NAME that runs a program (a target, or a path) on the built-in simulator and fails when a zone in FILE takes more
# cycles than it may, or never ran (`devlog budget`); it prints where the cycles went. Its logs are in NAME.budget in the build
# folder. For projects that find devlog or add it as a subdirectory; CMake 3.20.
function(devlog_add_budget_test name file)
  cmake_parse_arguments(PARSE_ARGV 2 budget "" "" "COMMAND")
  if(NOT budget_COMMAND OR budget_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "devlog_add_budget_test(${name} FILE COMMAND PROGRAM [ARGUMENT...])")
  endif()
  get_filename_component(file ${file} ABSOLUTE)
  list(POP_FRONT budget_COMMAND program)
  if(TARGET ${program})
    set(program $<TARGET_FILE:${program}>)
  endif()
  add_test(NAME ${name} COMMAND devlog::program budget -o ${CMAKE_CURRENT_BINARY_DIR}/${name}.budget ${file} ${program} ${budget_COMMAND})
endfunction()
