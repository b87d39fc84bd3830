# devlog_add_kernel(NAME SOURCE FILE [BOARD BOARD] [RISC RISC] [FLAGS FLAG...] [NO_PROFILE])
#
# A target NAME, built by default, that compiles a kernel with the flags that devlog would compile it with (`devlog cflags`), into
# the object file ${NAME_OBJECT}, which devlog_program_add_kernel takes in place of a source. It is compiled again when the source, a
# header that it includes or devlog has changed. BOARD: name or file of a board; RISC: where the kernel runs; unless told,
# as `devlog cflags`. DEVLOG_KERNEL_COMPILER (a cache variable) is the compiler.
# For projects that find devlog or add it as a subdirectory; CMake 3.20.
function(devlog_add_kernel name)
  cmake_parse_arguments(PARSE_ARGV 1 kernel "NO_PROFILE" "SOURCE;BOARD;RISC" "FLAGS")
  if(NOT kernel_SOURCE OR kernel_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "devlog_add_kernel(${name} SOURCE FILE [BOARD BOARD] [RISC RISC] [FLAGS FLAG...] [NO_PROFILE])")
  endif()
  find_program(DEVLOG_KERNEL_COMPILER NAMES riscv64-unknown-elf-gcc riscv32-unknown-elf-gcc REQUIRED)
  set(how "")
  foreach(option BOARD RISC)
    if(kernel_${option})
      string(TOLOWER ${option} word)
      list(APPEND how --${word} ${kernel_${option}})
    endif()
  endforeach()
  if(kernel_NO_PROFILE)
    list(APPEND how --no-profile)
  endif()
  get_filename_component(source ${kernel_SOURCE} ABSOLUTE)
  set(object ${CMAKE_CURRENT_BINARY_DIR}/${name}.o)
  add_custom_command(OUTPUT ${object}
                     COMMAND ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/compile-kernel $<TARGET_FILE:devlog::program> ${how} --
                             ${DEVLOG_KERNEL_COMPILER} ${kernel_FLAGS} -MD -MF ${object}.d -MT ${object} -c ${source} -o ${object}
                     DEPENDS ${source} $<TARGET_FILE:devlog::program> ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/compile-kernel
                     DEPFILE ${object}.d COMMENT "Compiling the kernel ${name}" VERBATIM)
  add_custom_target(${name} ALL DEPENDS ${object})
  set(${name}_OBJECT ${object} PARENT_SCOPE)
endfunction()
