# device_perf.html's parts: fetches its chart library from npm (once, by the hash in page/package-lock.json, into
# build/npm, shared by all builds) and makes everything into page_parts.c. Without npm or a network the build
# goes on, and the page says that its charts are missing and how to get them.
set(chart_folder ${CMAKE_SOURCE_DIR}/build/npm)
set(chart_script ${chart_folder}/node_modules/uplot/dist/uPlot.iife.min.js)
set(chart_style ${chart_folder}/node_modules/uplot/dist/uPlot.min.css)
if(NOT EXISTS ${chart_script})
  find_program(NPM npm)
  if(NPM)
    file(COPY ${CMAKE_SOURCE_DIR}/page/package.json ${CMAKE_SOURCE_DIR}/page/package-lock.json
         DESTINATION ${chart_folder})
    execute_process(COMMAND ${NPM} ci --ignore-scripts --no-audit --no-fund --fetch-retries=1 --fetch-timeout=60000
                    WORKING_DIRECTORY ${chart_folder} OUTPUT_QUIET ERROR_VARIABLE problem TIMEOUT 180)
  endif()
  if(NOT EXISTS ${chart_script})
    message(WARNING "device_perf.html is built without charts: uPlot could not be had from npm. ${problem}")
    set(chart_script "")
    set(chart_style "")
  endif()
endif()

# The licence asks that its text goes where the library goes.
set(chart_parts "")
if(chart_script)
  file(READ ${chart_folder}/node_modules/uplot/LICENSE licence)
  file(WRITE ${chart_folder}/licence.js "/* uPlot\n${licence}*/\n")
  set(chart_parts ${chart_folder}/licence.js ${chart_script})
endif()

# In this order they are one program; page/README.md says what is in which.
set(page_scripts "")
foreach(name format data theme rows paint view timeline select flows table histogram heatmap losses search keys start)
  list(APPEND page_scripts ${CMAKE_SOURCE_DIR}/page/${name}.js)
endforeach()
set(page_serve_scripts ${CMAKE_SOURCE_DIR}/page/format.js ${CMAKE_SOURCE_DIR}/page/serve.js)
set(page_styles ${chart_style} ${CMAKE_SOURCE_DIR}/page/page.css)
set(page_parts ${CMAKE_BINARY_DIR}/page_parts.c)
add_custom_command(
  OUTPUT ${page_parts}
  COMMAND ${CMAKE_COMMAND} -DOUT=${page_parts} -DHEAD=${CMAKE_SOURCE_DIR}/page/head.html
          -DBODY=${CMAKE_SOURCE_DIR}/page/body.html "-DSTYLE=${page_styles}" "-DCHART=${chart_parts}"
          "-DSCRIPT=${page_scripts}" "-DSERVE_HEAD=${CMAKE_SOURCE_DIR}/page/serve_head.html"
          "-DSERVE_BODY=${CMAKE_SOURCE_DIR}/page/serve_body.html" "-DSERVE_STYLE=${CMAKE_SOURCE_DIR}/page/serve.css"
          "-DSERVE_SCRIPT=${page_serve_scripts}" -P ${CMAKE_SOURCE_DIR}/cmake/embed.cmake
  DEPENDS ${CMAKE_SOURCE_DIR}/cmake/embed.cmake ${CMAKE_SOURCE_DIR}/page/head.html
          ${CMAKE_SOURCE_DIR}/page/body.html ${page_styles} ${page_scripts} ${chart_parts}
          ${CMAKE_SOURCE_DIR}/page/serve_head.html ${CMAKE_SOURCE_DIR}/page/serve_body.html
          ${CMAKE_SOURCE_DIR}/page/serve.css ${page_serve_scripts}
  COMMENT "Embedding device_perf.html" VERBATIM)
