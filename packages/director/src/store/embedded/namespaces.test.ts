import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { chmod, chown, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { Child } from "@slipway/testkit/child";
import { eventually } from "@slipway/testkit/eventually";
import { needs } from "@slipway/testkit/needs";
import { describe, expect, it } from "vitest";
import { ServerElsewhere, StateDirInUse } from "../errors.ts";
import { failure } from "../testing/failure.ts";
import type { Embedded } from "./open.ts";
import { ask, bundledOpener, directory, later, opened, ROOT } from "./testing/lab.ts";

const NOBODY = 65534;
const CONTAINER = ["--pid", "--net", "--ipc", "--fork", "--mount-proc", "--kill-child"];
const AS_NOBODY = ["setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups"];
const AS_USER = [...(ROOT ? AS_NOBODY : []), "unshare", "--user", "--map-current-user", ...CONTAINER];
const AS_ROOT = ["unshare", ...CONTAINER];
const works = ([program = "", ...args]: readonly string[]) =>
  spawnSync(program, [...args, "true"]).status === 0;
const ways = [
  { who: "root", command: AS_ROOT, runs: ROOT && needs("pid-namespaces", works(AS_ROOT)) },
  { who: "an ordinary user", command: AS_USER, runs: needs("userns", works(AS_USER)) },
].filter(({ runs }) => runs);

/** A shell with temporary files of its own, as in a container, that stays when the Director is killed. */
const SHELL = 'mount -t tmpfs none /mnt 2>/dev/null && export TMPDIR=/mnt; "$0" "$@"; sleep 3600';

/** A container whose first process is a shell, so that its other processes outlive a killed Director. */
async function container(command: readonly string[], dir: string): Promise<Child> {
  const shell = ["sh", "-c", SHELL, process.execPath, await bundledOpener(), dir];
  const [program = "", ...args] = [...command, ...shell];
  const child = new Child(program, args);
  later(() => child.kill());
  expect(await child.line()).toMatch(/^pid \d+$/);
  return child;
}

/** Kills the Director in the container of `dir`, and nothing else of it. */
function killDirector(dir: string): void {
  const found = readdirSync("/proc").filter(
    (pid) => /^\d+$/.test(pid) && wordsOf(pid)[0] === process.execPath,
  );
  const [pid] = found.filter((one) => wordsOf(one).includes(dir));
  if (pid === undefined) throw new Error(`no Director works in ${dir}`);
  process.kill(Number(pid), "SIGKILL");
}

function wordsOf(pid: string): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  } catch {
    return [];
  }
}

/** The processes of a killed container take a moment to end. */
const openedSoon = (dir: string): Promise<Embedded> =>
  eventually(
    "the container's end",
    () =>
      opened(dir).catch((error: unknown) => {
        if (StateDirInUse.is(error) || ServerElsewhere.is(error)) return undefined;
        throw error;
      }),
    60_000,
  );

async function owned(dir: string, command: readonly string[]): Promise<string> {
  await mkdir(dir, { recursive: true });
  if (command !== AS_USER || !ROOT) return dir;
  await chown(dir, NOBODY, NOBODY);
  await chmod(dir, 0o711);
  return dir;
}

describe.each(ways)("a state directory of a container that $who runs", ({ command }) => {
  it("is refused while the Director of the container lives, and opens after the container was killed", async () => {
    const dir = await owned(join(await directory(), "state"), command);
    const first = await container(command, dir);
    expect(StateDirInUse.paramsOf(await failure(opened(dir)))).toMatchObject({
      holder: expect.stringMatching(/^process \d+ of another pid namespace$/),
    });
    await first.kill();
    const next = await openedSoon(dir);
    expect(await ask(next, "select 1")).toBe(1);
  });

  it.each(["short", "too deep for a socket"])(
    "is refused while its database outlives a killed Director in the container, at a path that is %s",
    async (path) => {
      const deep = path === "short" ? "state" : join("d".repeat(60), "e".repeat(60));
      const dir = await owned(join(await directory(), deep), command);
      const first = await container(command, dir);
      killDirector(dir);
      const refused = () =>
        opened(dir).then(
          () => "opened",
          (error: unknown) => ServerElsewhere.is(error),
        );
      await expect.poll(refused, { timeout: 60_000 }).toBe(true);
      await first.kill();
      const next = await openedSoon(dir);
      expect(await ask(next, "select 1")).toBe(1);
    },
  );
});
