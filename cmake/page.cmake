# Makes the parts of device_perf.html, of the dashboard, of two runs in one page and of an archive's history, page/, into page_parts.c. Their modules become one program each by
# esbuild; page/README.md says what is in which.

find_program(DEVLOG_ESBUILD esbuild)
if(NOT DEVLOG_ESBUILD)
  message(FATAL_ERROR "esbuild is missing, which puts the modules of page/ together: apt-get install esbuild")
endif()
file(GLOB page_modules CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/page/*.js)
set(page_bundles "")
foreach(entry start serve pair history)
  set(bundle ${PROJECT_BINARY_DIR}/page_${entry}.js)
  add_custom_command(
    OUTPUT ${bundle}
    COMMAND ${DEVLOG_ESBUILD} ${PROJECT_SOURCE_DIR}/page/${entry}.js --bundle --minify --format=iife --target=es2022 --charset=utf8
            --legal-comments=none --log-level=warning --outfile=${bundle}
    DEPENDS ${page_modules} ${PROJECT_SOURCE_DIR}/cmake/page.cmake
    COMMENT "Bundling page/${entry}.js" VERBATIM)
  list(APPEND page_bundles ${bundle})
endforeach()
list(GET page_bundles 0 page_scripts)
list(GET page_bundles 1 page_serve_scripts)
list(GET page_bundles 2 page_pair_scripts)
list(GET page_bundles 3 page_history_scripts)
set(page_styles ${PROJECT_SOURCE_DIR}/page/page.css)
set(page_parts ${PROJECT_BINARY_DIR}/page_parts.c)
add_custom_command(
  OUTPUT ${page_parts}
  COMMAND ${CMAKE_COMMAND} -DOUT=${page_parts} -DHEAD=${PROJECT_SOURCE_DIR}/page/head.html
          -DBODY=${PROJECT_SOURCE_DIR}/page/body.html "-DSTYLE=${page_styles}"
          "-DSCRIPT=${page_scripts}" "-DSERVE_HEAD=${PROJECT_SOURCE_DIR}/page/serve_head.html"
          "-DSERVE_BODY=${PROJECT_SOURCE_DIR}/page/serve_body.html" "-DSERVE_STYLE=${PROJECT_SOURCE_DIR}/page/serve.css"
          "-DSERVE_SCRIPT=${page_serve_scripts}" "-DPAIR_HEAD=${PROJECT_SOURCE_DIR}/page/pair_head.html"
          "-DPAIR_BODY=${PROJECT_SOURCE_DIR}/page/pair_body.html" "-DPAIR_STYLE=${PROJECT_SOURCE_DIR}/page/page.css;${PROJECT_SOURCE_DIR}/page/pair.css"
          "-DPAIR_SCRIPT=${page_pair_scripts}" "-DHISTORY_HEAD=${PROJECT_SOURCE_DIR}/page/history_head.html"
          "-DHISTORY_BODY=${PROJECT_SOURCE_DIR}/page/history_body.html"
          "-DHISTORY_STYLE=${PROJECT_SOURCE_DIR}/page/page.css;${PROJECT_SOURCE_DIR}/page/history.css"
          "-DHISTORY_SCRIPT=${page_history_scripts}" -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
  DEPENDS ${PROJECT_SOURCE_DIR}/cmake/embed.cmake ${PROJECT_SOURCE_DIR}/page/head.html
          ${PROJECT_SOURCE_DIR}/page/body.html ${page_styles} ${page_scripts}
          ${PROJECT_SOURCE_DIR}/page/serve_head.html ${PROJECT_SOURCE_DIR}/page/serve_body.html
          ${PROJECT_SOURCE_DIR}/page/serve.css ${page_serve_scripts} ${PROJECT_SOURCE_DIR}/page/pair_head.html
          ${PROJECT_SOURCE_DIR}/page/pair_body.html ${PROJECT_SOURCE_DIR}/page/pair.css ${page_pair_scripts}
          ${PROJECT_SOURCE_DIR}/page/history_head.html ${PROJECT_SOURCE_DIR}/page/history_body.html
          ${PROJECT_SOURCE_DIR}/page/history.css ${page_history_scripts}
  COMMENT "Embedding device_perf.html" VERBATIM)
