# cmake -DOUTPUT=<file.cpp> -DNAME=<variable> -DFILES=<file|file...> -P embed.cmake
# Writes a source file that holds these files, one after the other, as tools::page::<variable>.
string(REPLACE "|" ";" FILES "${FILES}")
set(text "")
foreach(file IN LISTS FILES)
  file(READ "${file}" content)
  string(REGEX REPLACE "//# sourceMappingURL=[^\n]*" "" content "${content}") # names a file that will not be there
  string(REGEX REPLACE "/\\*# sourceMappingURL=[^\n]*" "" content "${content}")
  string(APPEND text "${content}\n")
endforeach()
file(WRITE "${OUTPUT}" "#include \"tools/report_page.hpp\"\n
const std::string_view tools::page::${NAME} = R\"gradburst_page(${text})gradburst_page\";\n")
