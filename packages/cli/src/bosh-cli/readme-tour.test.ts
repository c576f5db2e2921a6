import { existsSync } from "node:fs";
import { cp, mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { systemExec } from "@slipway/kernel/exec";
import { freePort } from "@slipway/testkit/free-port";
import { passableDirectory } from "@slipway/testkit/temporary";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { endLeftovers } from "./testing/leftovers.ts";
import { canPlay, PROGRAMS } from "./testing/requirements.ts";

const clone = fileURLToPath(new URL("../../../../", import.meta.url));
const MARK = "\u0001";
/** Ends before the test's own deadline, so that the output until then is reported. */
const AT_MOST_MS = 600_000;

interface Typed {
  readonly command: string;
  /** Output that the page shows under the command; `...` stands for anything. */
  readonly shown: readonly string[];
}

interface Said {
  readonly code: number;
  readonly lines: readonly string[];
}

/** The commands of the page's tour, in order. */
function tourOf(page: string): readonly Typed[] {
  const [, tour] = /<!-- tour:.*?-->\n([\s\S]*)<!-- end of tour -->/.exec(page) ?? [];
  if (tour === undefined) throw new Error("docs/tour.md has no tour");
  return [...tour.matchAll(/```text\n([\s\S]*?)```/g)].flatMap(([, block = ""]) =>
    block
      .split(/^\$ /m)
      .slice(1)
      .map((part) => {
        const [command = "", ...shown] = part.trimEnd().split("\n");
        return { command, shown };
      }),
  );
}

/** A reader of the page: a home, a temporary directory and a clone of their own. Nothing else differs from what it says. */
class Reader {
  readonly dir: string;
  readonly port: number;

  private constructor(dir: string, port: number) {
    this.dir = dir;
    this.port = port;
  }

  static async arrive(): Promise<Reader> {
    const dir = await passableDirectory("tour");
    const reader = new Reader(dir, await freePort());
    for (const name of ["home", "tmp", "bin", "clone/examples"])
      await mkdir(join(dir, name), { recursive: true });
    await mkdir(reader.state(), { recursive: true });
    // As if an earlier `slipway up --port N` had chosen it.
    await writeFile(reader.state("port"), `${reader.port}\n`);
    await symlink(join(clone, "packages"), join(dir, "clone/packages"));
    await symlink(process.env.SLIPWAY_BOSH ?? "", join(dir, "bin/bosh"));
    for (const name of ["first-deployment", "counter-release"])
      await cp(join(clone, "examples", name), join(dir, "clone/examples", name), { recursive: true });
    const examples = join(dir, "clone/examples/first-deployment");
    for (const name of await readdir(examples)) {
      const text = await readFile(join(examples, name), "utf8");
      await writeFile(join(examples, name), reader.#withOwnAddresses(text));
    }
    return reader;
  }

  state(...path: readonly string[]): string {
    return join(this.dir, "home/.local/state/slipway", ...path);
  }

  /** Uses addresses of this Director alone: there is one Director per port. */
  #withOwnAddresses(text: string): string {
    const [high, low] = [this.port >> 8, this.port & 0xff];
    return text
      .replaceAll("127.30.0.", `127.${high}.${low}.`)
      .replaceAll("127.30.1.", `127.${high}.${(low + 1) % 256}.`);
  }

  /** All in one shell, so that what a command sets is there for the next. */
  async type(commands: readonly string[]): Promise<readonly Said[]> {
    const lines = commands.flatMap((command) => [
      // What is printed to a terminal, except where another command or a file takes it.
      /^(bosh|slipway) [^>]*$/.test(command) ? "export BOSH_TTY=true" : "unset BOSH_TTY",
      command.replaceAll("/tmp/", `${this.dir}/tmp/`),
      `printf '%s%s' "$?" '${MARK}'`,
    ]);
    const script = join(this.dir, "tour.sh");
    await writeFile(script, ["exec 2>&1", ...lines, ""].join("\n"));
    const { stdout, stderr } = await systemExec("sh", [script], {
      cwd: join(this.dir, "clone"),
      env: this.#env(),
      keep: 1 << 24,
      signal: AbortSignal.timeout(AT_MOST_MS),
    });
    expect(stderr).toBe("");
    return stdout.split(MARK).map((said) => {
      const [, text = "", code = ""] = /^([\s\S]*?)(\d*)$/.exec(said) ?? [];
      return { code: code === "" ? -1 : Number(code), lines: this.#plain(text).split("\n") };
    });
  }

  /** Replaces the test's directories by `~` and `/tmp`, as on the page. */
  #plain(text: string): string {
    return text.replaceAll(join(this.dir, "home"), "~").replaceAll(join(this.dir, "tmp"), "/tmp");
  }

  #env(): Record<string, string> {
    const path = [join(this.dir, "bin"), dirname(process.execPath), process.env.PATH ?? ""].join(":");
    // Root's would be the machine's.
    return { HOME: join(this.dir, "home"), SLIPWAY_HOME: this.state(), PATH: path, NO_COLOR: "1" };
  }

  async leave(): Promise<void> {
    try {
      await systemExec(process.execPath, [PROGRAMS.slipway, "down"], { env: this.#env() });
    } finally {
      await endLeftovers(this.state("director"), this.state("cloud"));
      await endLeftovers(this.state("director"), join(this.dir, "tmp/lab-state.slipway/cloud"));
      await rm(this.dir, { recursive: true, force: true, maxRetries: 5 });
    }
  }
}

/** Masks values that differ on every run, and the width of columns that follows from them. */
const masked = (line: string): string =>
  line
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "UUID")
    .replace(/\b(vm|disk|stemcell)-[0-9a-f]{32}\b/g, "$1-CID")
    .replace(/\bdb\/[0-9a-f]{8}\b/g, "db/UUID")
    .replace(/\{"path":.*?\}/g, "HINT")
    .replace(/\b127(\.\d+){3}(:\d+)?/g, "ADDRESS")
    .replace(/\w{3} \w{3} +\d+ [\d:]{8} UTC \d{4}/g, "DATE")
    .replace(/\b\d\d:\d\d:\d\d\b/g, "TIME")
    .replace(/\bTask \d+/g, "Task N")
    .replace(/\b[0-9a-f]{64}\b/g, "FINGERPRINT")
    .replace(/(Visits:|drained at) \d+/g, "$1 N")
    .replace(/\d+ before, \d+ after/g, "N before, N after")
    .replace(/\bprocess \d+/g, "process N")
    .replace(/ \(asked \d+ times\)/g, "")
    .replace(/\b[\d.]+ (ms|s|%)(?!\w)/g, "N $1")
    .replace(/\s+/g, " ")
    .trim();

/** The first line that is shown and was not said, in the order of the page. */
function missing(shown: readonly string[], said: readonly string[]): string | undefined {
  const lines = said.map(masked);
  let from = 0;
  for (const line of shown.filter((one) => one !== "...")) {
    const at = lines.indexOf(masked(line), from);
    if (at < 0) return line;
    from = at + 1;
  }
  return undefined;
}

describe.runIf(await canPlay())("docs/tour.md", () => {
  let reader: Reader;
  beforeAll(async () => {
    reader = await Reader.arrive();
  });
  afterAll(() => reader?.leave());

  it("can be typed as it stands, and shows what is printed", async () => {
    const tour = tourOf(await readFile(join(clone, "docs/tour.md"), "utf8"));
    expect(tour.length).toBeGreaterThan(20);
    const said = await reader.type(tour.map(({ command }) => command));
    for (const [at, { command, shown }] of tour.entries()) {
      const { code, lines } = said[at] ?? { code: -1, lines: [] };
      const report = `$ ${command}\n${lines.join("\n")}`;
      expect(code, report).toBe(0);
      expect(missing(shown, lines), report).toBeUndefined();
    }
  });

  it("leaves no sandbox, no Director and no environment", async () => {
    expect(await readdir(reader.state("cloud", "vms"))).toEqual([]);
    expect(existsSync(reader.state("running.json"))).toBe(false);
    expect((await readdir(join(reader.dir, "tmp"))).sort()).toEqual([
      ...["ca.crt", "counter.tgz", "deploy.log", "note", "stemcell.tgz"],
    ]);
  });
});
