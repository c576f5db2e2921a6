import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

const SCRIPT = `#!/bin/sh
while [ $# -gt 0 ]; do
  case $1 in
  -u | -g | -p | -C) shift; [ $# -eq 0 ] || shift ;;
  --) shift; break ;;
  -*) shift ;;
  *) break ;;
  esac
done
[ $# -gt 0 ] || set -- /bin/bash
exec env "$@"
`;

const USUAL = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/**
 * All users of a sandbox are one, so there is nobody to become; the machine's own sudo, if it has any, knows none of them.
 * The bosh CLI asks for it to follow logs. Resolves to the PATH that has it.
 */
export async function writeSudo(directory: string): Promise<string> {
  const bin = join(directory, "bin");
  await mkdir(bin, { recursive: true, mode: 0o755 });
  await writeFile(join(bin, "sudo"), SCRIPT, { mode: 0o755 });
  return `${bin}:${USUAL}`;
}
