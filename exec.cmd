:: What `exec` is to a shell of POSIX, for scripts of package.json that hand themselves over to one program.
@%*
