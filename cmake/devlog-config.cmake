# find_package(devlog): the library devlog::devlog, the program devlog::program, and the functions
# devlog_add_kernel and devlog_add_budget_test.
include(${CMAKE_CURRENT_LIST_DIR}/devlog-targets.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/kernels.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/budgets.cmake)
