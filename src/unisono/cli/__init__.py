"""The front door in a shell. Nobody imports it but `__main__`.

main                     the `unisono` command: finds a subcommand and imports its module only then
*_command, *_commands    the subcommands, by subject
table_options, model_options   options that several commands share
terminal                 printing of text, tables, warnings and progress
"""
