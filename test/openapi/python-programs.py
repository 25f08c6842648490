"""Runs the Python programs of the guides in one process, because a start of Python takes longer than most programs.

Reads a task with the code, the environment and the arguments of a program from each line of standard input.
"""

import contextlib
import importlib
import io
import json
import os
import sys
import traceback

sys.path.insert(0, os.getcwd())
for line in sys.stdin:
    task = json.loads(line)
    os.environ.update(task["env"])
    sys.argv = ["program.py", *task["args"]]
    # A shell command may have written this module again.
    sys.modules.pop("itsm_fields", None)
    importlib.invalidate_caches()
    output, errors, status = io.StringIO(), io.StringIO(), 0
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        try:
            exec(compile(task["code"], "program.py", "exec"), {"__name__": "__main__"})
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else int(end.code is not None)
            if isinstance(end.code, str):
                print(end.code, file=sys.stderr)
        except Exception:
            traceback.print_exc()
            status = 1
    print(json.dumps({"status": status, "output": output.getvalue(), "errors": errors.getvalue()}), flush=True)
