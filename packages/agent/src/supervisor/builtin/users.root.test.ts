import { chmod, copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { needs } from "@slipway/testkit/needs";
import { describe, expect, it } from "vitest";
import { jobLab, lives } from "../testing/job-lab.ts";

const root = needs("root-mounts", process.getuid?.() === 0, "only root can be somebody else");
const within = { timeout: 15_000, interval: 20 };

/** Says who it is, and stays. */
const WHO = `#!/bin/bash
exec >"$1/$2.who.new" 2>&1
id -un; id -gn; id -Gn; umask; ulimit -S -n
mv "$1/$2.who.new" "$1/$2.who"
sleep 300 </dev/null >/dev/null 2>&1 &
echo $! > "$1/$2.pid"
`;

describe.runIf(root)("a program of a monit file", () => {
  async function lab() {
    const made = await jobLab();
    const program = join(made.dir, "who");
    await writeFile(program, WHO);
    await chmod(program, 0o755);
    await mkdir(made.paths.system("etc"), { recursive: true });
    for (const file of ["passwd", "group"]) await copyFile(`/etc/${file}`, made.paths.system("etc", file));
    // Others write here, too.
    await chmod(made.dir, 0o777);
    const supervisor = await made.supervisor();
    const started = async (names: Readonly<Record<string, string>>) => {
      const checks = Object.entries(names).map(
        ([name, as]) => `check process ${name} with pidfile ${made.dir}/${name}.pid
  start program "${program} ${made.dir} ${name}" ${as} with timeout 20 seconds
  stop program "/bin/sh -c 'kill $(cat ${made.dir}/${name}.pid)'" ${as}
  group vcap\n`,
      );
      await supervisor.watch([await made.job("web", checks.join(""))]);
      await supervisor.start();
    };
    const who = async (name: string) => (await readFile(join(made.dir, `${name}.who`), "utf8")).split("\n");
    const stopped = () => supervisor.stop({ wait: true }, new AbortController().signal);
    return { ...made, started, who, supervisor, stopped };
  }

  it("runs as the user and group that it names, by name or number, with the usual limits, and is stopped so", async () => {
    const { started, who, pid, supervisor, stopped } = await lab();
    await started({
      plain: "",
      both: "as uid nobody and gid games",
      user: "as uid nobody",
      numbers: 'as uid "65534" and gid "60"',
    });
    await expect.poll(async () => (await supervisor.status()).state, within).toBe("running");
    const limits = [process.umask().toString(8).padStart(4, "0"), "1024", ""];
    expect((await who("plain")).slice(0, 2)).toEqual(["root", "root"]);
    expect((await who("plain")).slice(3)).toEqual(limits);
    expect(await who("both")).toEqual(["nobody", "games", "games", ...limits]);
    // As with monit, the group is not the user's own unless it is named.
    expect(await who("user")).toEqual(["nobody", "root", "root", ...limits]);
    expect(await who("numbers")).toEqual(["nobody", "games", "games", ...limits]);
    const pids = await Promise.all(["plain", "both", "user", "numbers"].map((name) => pid(name)));
    await stopped();
    expect(pids.filter((one) => one === undefined || lives(one))).toEqual([]);
  });

  it("does not start as an unknown user, and the error names the user", async () => {
    const { started, sent } = await lab();
    await started({ web: "as uid no-such-user" });
    await expect
      .poll(() => sent[0]?.summary, within)
      .toContain("failed to start: there is no user no-such-user");
  });
});
