# Makes the parts of device_perf.html and of the dashboard, page/, into page_parts.c.

# In this order they are one program; page/README.md says what is in which.
set(page_scripts "")
foreach(name format data theme rows paint view timeline select flows table histogram heatmap markers losses search keys start)
  list(APPEND page_scripts ${PROJECT_SOURCE_DIR}/page/${name}.js)
endforeach()
set(page_serve_scripts ${PROJECT_SOURCE_DIR}/page/format.js ${PROJECT_SOURCE_DIR}/page/serve.js)
set(page_styles ${PROJECT_SOURCE_DIR}/page/page.css)
set(page_parts ${PROJECT_BINARY_DIR}/page_parts.c)
add_custom_command(
  OUTPUT ${page_parts}
  COMMAND ${CMAKE_COMMAND} -DOUT=${page_parts} -DHEAD=${PROJECT_SOURCE_DIR}/page/head.html
          -DBODY=${PROJECT_SOURCE_DIR}/page/body.html "-DSTYLE=${page_styles}"
          "-DSCRIPT=${page_scripts}" "-DSERVE_HEAD=${PROJECT_SOURCE_DIR}/page/serve_head.html"
          "-DSERVE_BODY=${PROJECT_SOURCE_DIR}/page/serve_body.html" "-DSERVE_STYLE=${PROJECT_SOURCE_DIR}/page/serve.css"
          "-DSERVE_SCRIPT=${page_serve_scripts}" -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
  DEPENDS ${PROJECT_SOURCE_DIR}/cmake/embed.cmake ${PROJECT_SOURCE_DIR}/page/head.html
          ${PROJECT_SOURCE_DIR}/page/body.html ${page_styles} ${page_scripts}
          ${PROJECT_SOURCE_DIR}/page/serve_head.html ${PROJECT_SOURCE_DIR}/page/serve_body.html
          ${PROJECT_SOURCE_DIR}/page/serve.css ${page_serve_scripts}
  COMMENT "Embedding device_perf.html" VERBATIM)
