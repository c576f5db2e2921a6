import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Command } from "./command.ts";
import type { FakeDirector } from "./testing/fake-director.ts";
import { INFO } from "./testing/fake-director.ts";
import { startLab } from "./testing/lab.ts";
import { runCli } from "./testing/run-cli.ts";

const SECRET = "correct-horse-battery";
let lab: FakeDirector;
let home: string;
let remove: () => Promise<void>;

beforeEach(async () => {
  lab = await startLab();
  ({ path: home, remove } = await temporaryDirectory());
});
afterEach(async () => {
  await lab.close();
  await remove();
});

const env = () => ({
  BOSH_ENVIRONMENT: lab.url,
  BOSH_CA_CERT: lab.ca,
  BOSH_CLIENT: "admin",
  BOSH_CLIENT_SECRET: SECRET,
});
const run = (...argv: readonly string[]) => runCli(argv, { env: env(), home });

describe("the program", () => {
  it("ends with 0 when it succeeds, and a pipe gets the result alone", async () => {
    expect(await run("deployments", "--column", "name")).toEqual({
      code: 0,
      out: "admin\t\nshop\t\n",
      err: "",
    });
  });

  it("says on a terminal that it succeeded, also without a Director, as upstream does", async () => {
    const [tty, piped] = [await run("environments", "--tty"), await run("environments")];
    expect(tty.out).toMatch(/\n0 environments\n\nSucceeded\n$/);
    expect(piped.out).toBe("");
    expect(JSON.parse((await run("environments", "--json")).out)).toMatchObject({ Lines: ["Succeeded"] });
  });

  it("tells a refusal once, without a next step that says nothing, and ends with 1", async () => {
    const { code, out, err } = await run("-d", "nope", "manifest");
    expect([code, out]).toEqual([1, ""]);
    expect(err).toMatch(/^CLI-024 the Director refused GET \/deployments\/nope: .*\n$/);
  });

  it("ends with 2 when it was called wrongly, and JSON stays JSON", async () => {
    const { code, out, err } = await run("--json", "deplyments");
    expect([code, err]).toEqual([2, ""]);
    expect(JSON.parse(out)).toEqual({
      Tables: null,
      Blocks: null,
      Lines: [expect.stringContaining("did you mean 'deployments'"), "Exit code 2"],
    });
  });

  it("asks for the name of a deployment, and changes nothing without a confirmation", async () => {
    expect((await run("manifest")).err).toContain("Name it with -d NAME or BOSH_DEPLOYMENT");
    const { code, err } = await run("-d", "shop", "delete-deployment");
    expect(code).toBe(1);
    expect(err).toContain("-n (BOSH_NON_INTERACTIVE=true)");
    expect(lab.asked("DELETE")).toEqual([]);
  });

  it("takes for deleted what is no longer listed, and only that", async () => {
    lab.on("DELETE /deployments/gone", { status: 404, body: '{"code":70000,"description":"no such"}' });
    lab.on("DELETE /deployments/shop", { status: 500, body: "trouble" });
    expect((await run("-n", "-d", "gone", "delete-deployment")).code).toBe(0);
    expect((await run("-n", "-d", "shop", "delete-deployment")).code).toBe(1);
  });

  it("prints a failed task's events and its end", async () => {
    const { code, out, err } = await run("task", "41");
    expect(code).toBe(1);
    expect(out).toContain("L Error: processes did not start");
    expect(err).toContain("CLI-026 task 41 ended as error");
  });

  it("ends with 130 after Ctrl-C, and without a complaint", async () => {
    const stop = new AbortController();
    lab.on("GET /locks", () => {
      stop.abort();
      return { cut: true };
    });
    const ran = await runCli(["locks"], { env: env(), home, stop: stop.signal });
    expect(ran).toEqual({ code: 130, out: "", err: "" });
  });

  it("tells what a command throws, whatever it is", async () => {
    const odd: Command = {
      name: "odd",
      summary: "",
      topic: "documents",
      run: async () => {
        throw new Error("went wrong");
      },
    };
    expect(await runCli(["odd"], { commands: [odd] })).toEqual({ code: 1, out: "", err: "went wrong\n" });
  });

  it("never prints the password", async () => {
    lab.on("GET /stemcells", { status: 401 }).json("GET /info", { ...INFO, user: null });
    for (const argv of [["env"], ["stemcells"], ["log-in"], ["env", "--tty"], ["env", "--json"]]) {
      const { out, err } = await run(...argv);
      expect(out + err).not.toContain(SECRET);
    }
  });
});

describe("logging in", () => {
  const loginFile = () => join(home, "logins.json");

  it("is remembered only when the Director knows who it is", async () => {
    lab.json("GET /info", { ...INFO, user: null });
    const { code, err } = await run("log-in");
    expect(code).toBe(1);
    expect(err).toContain("CLI-017");
    await expect(readFile(loginFile())).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("is used from then on, until the log-out", async () => {
    expect((await run("log-in")).out).toContain(`Logged in to '${lab.url}' as 'admin'`);
    const bare = (...argv: readonly string[]) => runCli(argv, { home });
    expect((await bare("env", "--column", "user")).out).toBe("admin\t\n");
    const sent = lab.seen.at(-1)?.headers.authorization ?? "";
    expect(Buffer.from(sent.slice(6), "base64").toString()).toBe(`admin:${SECRET}`);
    expect((await bare("environments")).out).toContain(lab.url);
    expect((await bare("log-out")).code).toBe(0);
    expect(await readFile(loginFile(), "utf8")).not.toContain(SECRET);
    expect((await bare("env")).err).toContain("CLI-010");
  });

  it("prints on stderr that commands go to another Director than the one that runs here", async () => {
    await run("log-in");
    await writeFile(join(home, "env"), "export BOSH_ENVIRONMENT='https://127.0.0.1:25555'\n");
    await writeFile(join(home, "running.json"), "{}");
    const quiet = await runCli(["-n", "-d", "shop", "delete-deployment"], { home });
    expect(quiet).toMatchObject({ code: 0, err: expect.stringContaining(`Using '${lab.url}'`) });
    expect(quiet.err).toContain("and not 'https://127.0.0.1:25555'");
    const named = await runCli(["-n", "-e", lab.url, "-d", "shop", "delete-deployment", "--tty"], { home });
    expect(named).toMatchObject({ code: 0, err: "" });
    expect(named.out).toContain(`Using environment '${lab.url}' as client 'admin'`);
  });

  it("asks at a terminal only", async () => {
    const { code, err } = await runCli(["log-in", "-e", lab.url, "--ca-cert", lab.ca], { home });
    expect(code).toBe(1);
    expect(err).toContain("there is no terminal to ask for: Username");
  });

  it("works by an alias", async () => {
    expect((await run("alias-env", "lab")).code).toBe(0);
    const { BOSH_ENVIRONMENT: _, BOSH_CA_CERT: __, ...who } = env();
    expect((await runCli(["-e", "lab", "env"], { env: who, home })).code).toBe(0);
    expect((await runCli(["environments", "--json"], { home })).out).toContain('"alias": "lab"');
  });
});

describe("our own listings", () => {
  it("show disks of deployments and say where another Director has none", async () => {
    lab.json("GET /deployments/shop/disks", [
      {
        disk_cid: "d-9",
        size: 2048,
        az: "z1",
        instance_name: "db/1",
        vm_cid: "vm-1",
        active: true,
        mounted: true,
      },
    ]);
    expect((await run("-d", "shop", "disks")).out).toBe("d-9\t2.0 GiB\tshop\tdb/1\tz1\tvm-1\tmounted\t\n");
    expect((await run("-d", "admin", "disks")).err).toContain("--orphaned");
  });

  it("show strays", async () => {
    lab.json("GET /strays", [
      {
        id: "1",
        kind: "vm",
        cpi: "local",
        request_id: "r",
        about: "VM of db/1",
        why: "killed",
        noted_at: "2025-11-15 19:00:00 UTC",
      },
    ]);
    expect((await run("strays")).out).toBe(
      "1\tvm\tlocal\tr\tVM of db/1\tkilled\tSat Nov 15 19:00:00 UTC 2025\t\n",
    );
  });

  it("show how the instances are, and what is being done", async () => {
    const instance = {
      deployment: "shop",
      instance_group: "web",
      index: 0,
      id: "6f1c",
      state: "started",
      health: "healthy",
      since: null,
      problems: [],
      action: null,
      last_contact: "2026-01-31T12:00:00Z",
    };
    const gone = {
      ...instance,
      id: "91aa",
      health: "no_vm",
      since: "2026-01-31T11:59:00Z",
      problems: ["it has no VM"],
      action: "task 7 replaces its VM",
      last_contact: null,
    };
    const found = { enabled: true, at: "2026-01-31T12:00:00Z", resurrection: { enabled: true, held: null } };
    lab.json("GET /health", { ...found, instances: [instance, gone] });
    const well = ["shop", "web/6f1c", "healthy", "-", "-", "-", "Sat Jan 31 12:00:00 UTC 2026"];
    const since = "Sat Jan 31 11:59:00 UTC 2026";
    const bad = ["shop", "web/91aa", "no vm", since, "it has no VM", "task 7 replaces its VM", "-"];
    const cells = ({ out }: { readonly out: string }) =>
      out.split("\n").map((line) =>
        line
          .split("\t")
          .map((cell) => cell.trim())
          .slice(0, -1),
      );
    const all = await run("health");
    expect({ ...all, out: cells(all) }).toEqual({ code: 0, err: "", out: [well, bad, []] });
    expect(cells(await run("health", "--failing"))).toEqual([bad, []]);
    lab.json("GET /health?deployment=shop", {
      ...found,
      resurrection: { enabled: true, held: "6 of all 12 agents are silent" },
      instances: [],
    });
    expect((await run("-d", "shop", "health")).err).toContain(
      "VMs are not replaced: 6 of all 12 agents are silent.",
    );
  });

  it("say what is missing in a file to upload", async () => {
    await mkdir(join(home, "x"));
    await writeFile(join(home, "x", "s.tgz"), "");
    expect((await run("upload-stemcell", join(home, "none.tgz"))).err).toContain("CLI-045");
    expect((await run("upload-stemcell", join(home, "x", "s.tgz"))).code).toBe(1);
    expect(lab.asked("POST")).toEqual([]);
  });
});
