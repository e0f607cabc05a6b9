# Run by the build: the command KILTER writes its own man pages and completions into INTO.
file(REMOVE_RECURSE ${INTO})
file(MAKE_DIRECTORY ${INTO}/man1)
execute_process(COMMAND ${KILTER} help --man-pages ${INTO}/man1 COMMAND_ERROR_IS_FATAL ANY)
foreach(shell bash zsh fish)
  execute_process(COMMAND ${KILTER} completion ${shell} OUTPUT_FILE ${INTO}/kilter.${shell}
    COMMAND_ERROR_IS_FATAL ANY)
endforeach()
file(TOUCH ${INTO}/made)
