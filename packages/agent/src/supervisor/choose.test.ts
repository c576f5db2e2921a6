import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { machine } from "../settings/testing/settings-lab.ts";
import { alertOf, severityOf } from "./alerts.ts";
import { chooseSupervisor } from "./choose.ts";
import { monitFilesOf, namesIn, writeMonitDirectory } from "./job-files.ts";
import { addressIn } from "./monit/client.ts";
import type { Service } from "./monit-file/model.ts";
import { parseMonitFile } from "./monit-file/parse.ts";
import { dependentsOf, inStartOrder } from "./order.ts";

async function put(path: string, text = ""): Promise<string> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
  return path;
}

describe("who runs the jobs", () => {
  it("is our own supervisor, or monit where the stemcell has its control file", async () => {
    const { paths } = await machine();
    expect(await chooseSupervisor(undefined, paths)).toEqual({ kind: "builtin" });
    const debian = await put(paths.system("etc", "monit", "monitrc"));
    const program = await put(paths.system("usr", "bin", "monit"));
    expect(await chooseSupervisor(undefined, paths)).toEqual({ kind: "builtin" });
    expect(await chooseSupervisor("monit", paths)).toEqual({ kind: "monit", control: debian, program });
    const control = await put(join(paths.boshDir, "etc", "monitrc"));
    const own = await put(join(paths.boshDir, "bin", "monit"));
    expect(await chooseSupervisor(undefined, paths)).toEqual({ kind: "monit", control, program: own });
    expect(await chooseSupervisor("builtin", paths)).toEqual({ kind: "builtin" });
  });

  it("is refused when it is not there", async () => {
    const { paths } = await machine();
    await expect(chooseSupervisor("monit", paths)).rejects.toThrow("-M monit: there is none of");
    await put(join(paths.boshDir, "etc", "monitrc"));
    await expect(chooseSupervisor("monit", paths)).rejects.toThrow("monit is not installed");
    await expect(chooseSupervisor("upstart", paths)).rejects.toThrow("there are builtin and monit");
  });

  it("finds monit where its control file says", () => {
    const text =
      "set daemon 10\nset httpd port 2899 and\n use address 10.0.0.1\n allow a:b\ncheck host h address 8.8.8.8";
    expect(addressIn(text, "monitrc")).toEqual({ host: "10.0.0.1", port: 2899 });
    expect(addressIn("set daemon 1", "monitrc")).toEqual({ host: "127.0.0.1", port: 2822 });
  });
});

describe("the monit files of the jobs", () => {
  it("are those of the applied jobs, named as upstream names them, and no others", async () => {
    const { paths } = await machine();
    for (const file of ["web/monit", "web/extra.monit", "db/monit"]) await put(join(paths.jobs, file), file);
    const spec = {
      job: { name: "api", templates: [{ name: "web" }, { name: "gone" }, { name: "db" }] },
      rendered_templates_archive: { blobstore_id: "b", sha1: "s" },
    };
    const files = await monitFilesOf(spec as never, paths);
    expect(namesIn(files).map(([name]) => name)).toEqual([
      "0001_web.monitrc",
      "0001_web_extra.monitrc",
      "0000_db.monitrc",
    ]);
    await writeMonitDirectory(files, paths.monitJobs);
    expect(await readFile(join(paths.monitJobs, "0001_web_extra.monitrc"), "utf8")).toBe("web/extra.monit");
    await writeMonitDirectory(files.slice(2), paths.monitJobs);
    expect(await readdir(paths.monitJobs)).toEqual(["0000_db.monitrc"]);
    await expect(writeMonitDirectory([{ job: "x", path: "/no/such" }], paths.monitJobs)).rejects.toThrow(
      "the monit file /no/such of the job x cannot be read",
    );
    expect(await monitFilesOf(undefined, paths)).toEqual([]);
  });

  it("are ordered by dependencies, and refused when these cannot be met", () => {
    const read = (text: string) =>
      inStartOrder(parseMonitFile(text.replace(/CHECK (\w+)/g, "check process $1 pidfile /p"), "f").services);
    const names = (services: readonly Service[]) => services.map((one) => one.name);
    const ordered = read("CHECK a depends on c CHECK b CHECK c depends on b");
    expect(names(ordered)).toEqual(["b", "c", "a"]);
    expect([...dependentsOf("b", ordered)]).toEqual(["c", "a"]);
    expect(() => read("CHECK a CHECK a")).toThrow("there is another a in f");
    expect(() => read("CHECK a depends on x")).toThrow(
      "f, line 1: check process a: it depends on x, which no job has",
    );
    expect(() => read("CHECK a depends on b CHECK b depends on a")).toThrow("depend on each other");
    const long = Array.from({ length: 5000 }, (_, at) => `CHECK s${at} depends on s${at + 1}\n`).join("");
    expect(read(`${long}CHECK s5000`)[0]?.name).toBe("s5000");
  });
});

describe("alerts", () => {
  it.each([
    ["Does not exist", 1],
    ["Execution failed", 1],
    ["Connection failed", 1],
    ["Timeout", 2],
    ["UID failed", 2],
    ["Something new", 2],
    ["Resource limit matched", 3],
    ["PID changed", 4],
    ["Exists", undefined],
    ["Resource limit succeeded", undefined],
    ["Action done", undefined],
  ])("have upstream's severity for the event %s: %s", (event, severity) => {
    expect(severityOf(event)).toBe(severity);
  });

  it("have upstream's form", () => {
    const event = {
      id: "17.3@localhost",
      service: "web",
      event: "does not exist",
      action: "restart",
      description: "process is not running",
      createdAt: 17,
    };
    expect(alertOf(event, ["10.0.0.6", "10.0.0.5"])).toEqual({
      id: "17.3@localhost",
      severity: 1,
      title: "web (10.0.0.5, 10.0.0.6) - does not exist - restart",
      summary: "process is not running",
      created_at: 17,
    });
  });
});
