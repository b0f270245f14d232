"""The front door in a shell. Nobody imports it but `__main__`.

main                     the `unisono` command: finds a subcommand and imports its module only then
*_command, *_commands    the subcommands, by subject
setting_table            every setting that is no daily option, once; `--set`, `--read` and their page come from it
option_groups            options under titles; `--set name=value` and `--read name=value`
table_options, model_options   options that several commands share
terminal                 printing of text, tables, warnings and progress
"""
