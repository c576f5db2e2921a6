// What stories really run of the `bosh` CLI. `recorder` makes a program that stands in for it: it runs the real one and
// leaves a file for each run, with what was typed, the exit code, the test that ran it and, of one that failed, what it
// said last. Stories clear the environment of their programs, so that the test is found by the process it runs in:
// `packages/testkit/src/record-test.ts` notes it.
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Of each of its two outputs. */
const LAST_BYTES = 4000;

/** Signals are passed on, as far as they can be: who ends it means the real one. */
const script = (real, dir) => `#!/bin/sh
# A shell without job control gives its background no input, and makes it deaf to Ctrl-C.
exec 3<&0
# Numbers of processes come again, and are the same in other namespaces.
own=$(/usr/bin/mktemp '${dir}'/part-XXXXXXXXXXXX)
said='${dir}'/said-\${own##*/part-}
# At a terminal nothing may stand between. Who ends us by Ctrl-C still wants the last words.
if [ -t 1 ] || [ -t 2 ]; then
  /usr/bin/env --default-signal=INT,QUIT '${real}' "$@" <&3 3<&- &
  child=$! tees=
else
  /usr/bin/mkfifo "$said-out" "$said-err"
  /usr/bin/tee -i "$said-1" < "$said-out" 3<&- & tees=$!
  /usr/bin/tee -i "$said-2" < "$said-err" >&2 3<&- & tees="$tees $!"
  /usr/bin/env --default-signal=INT,QUIT '${real}' "$@" <&3 3<&- > "$said-out" 2> "$said-err" &
  child=$!
fi
trap 'kill -INT $child' INT
trap 'kill -TERM $child' TERM
trap 'kill -HUP $child' HUP
wait $child; code=$?
while kill -0 $child 2>/dev/null; do wait $child; code=$?; done
trap '' INT TERM HUP
# All of it has gone through: nobody hears of the end before the words.
[ -z "$tees" ] || wait $tees
last=
[ $code = 0 ] || last=$(/usr/bin/tail -qc ${LAST_BYTES} "$said-1" "$said-2" 2>/dev/null | /usr/bin/tr -d '\\0')
/bin/rm -f "$said-out" "$said-err" "$said-1" "$said-2"
pid=$PPID test=
while [ "$pid" -gt 1 ]; do
  if [ -r '${dir}'/test-$pid ]; then read -r test < '${dir}'/test-$pid; break; fi
  parent=1
  while read -r name value; do
    if [ "$name" = PPid: ]; then parent=$value; break; fi
  done < /proc/$pid/status 2>/dev/null
  pid=$parent
done
printf '%s\\0' "$code" "$test" "$last" "$@" > "$own" && /bin/mv "$own" '${dir}'/run-"\${own##*/part-}"
exit $code
`;

/** An empty directory for records, and the program in it. */
export function recorder(real, dir) {
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(dir, { recursive: true });
  // Stories of other users write there too.
  chmodSync(dir, 0o1777);
  const path = join(dir, "bosh");
  writeFileSync(path, script(real, dir));
  chmodSync(path, 0o755);
  return path;
}

/** All runs so far: `{ code, file, test, said, args }`; `said` is empty of one that ended with 0. */
export function recorded(dir) {
  return readdirSync(dir)
    .filter((name) => name.startsWith("run-"))
    .map((name) => {
      const [code, noted, said, ...args] = readFileSync(join(dir, name), "utf8").split("\0").slice(0, -1);
      const { file = "", test = "" } = noted === "" ? {} : JSON.parse(noted);
      return { code: Number(code), file, test, said, args };
    });
}
