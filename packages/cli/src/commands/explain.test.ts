import { describe, expect, it } from "vitest";
import { scene } from "../deploy/testing/fakes.ts";
import { DEPLOY, textOf } from "../explain/testing/talk.ts";
import { typedOptionsOf } from "../interpolate/testing/typed-options.ts";
import { Terminal } from "../ui/terminal.ts";
import { explain } from "./explain.ts";
import { matrix } from "./matrix.ts";

const ASKING = textOf(DEPLOY.filter(({ to, message }) => to === "director" || message === "info"));
const OUTPUTS: Readonly<Record<number, string>> = { 7: textOf(DEPLOY), 8: ASKING, 9: "" };
const task = (id: number) => ({ id, state: "done", description: "create deployment", deployment: "shop" });
const vm = (index: number, slipway?: object) => ({
  job: "db",
  index,
  id: `id-${index}`,
  ...(slipway && { slipway }),
});

const ANSWERS = {
  "GET /info": {
    name: "lab",
    uuid: "u-1",
    version: "1",
    cpi: "/opt/cpis/local",
    slipway: { cpi_api_version: 3 },
  },
  "GET /tasks": [task(9), task(8), task(7)],
  "GET /tasks/8": task(8),
  "GET /tasks/9": task(9),
  "GET /deployments": [{ name: "shop" }, { name: "old" }],
  "GET /deployments/shop/vms": [vm(0, { cpi_api_version: 2, stemcell_api_version: 3, channel: "user-data" })],
  "GET /deployments/old/vms": [vm(0, { cpi_api_version: 1, stemcell_api_version: 1 }), vm(1)],
};

/** A command as it is printed: on a terminal so wide, into a pipe, or as JSON. */
async function printed(
  command: typeof explain,
  given: Readonly<Record<string, string>> = {},
  look: { readonly columns?: number; readonly json?: boolean; readonly deployment?: string } = {},
) {
  const { tools, heard } = scene({
    ...(look.deployment !== undefined && { deployment: look.deployment }),
    answers: ANSWERS,
  });
  let out = "";
  const write = (text: string) => {
    out += text;
  };
  const ui = new Terminal({
    out: { write, ...(look.columns !== undefined && { isTTY: true, columns: look.columns }) },
    err: { write },
    input: undefined,
    stop: tools.stop,
    json: look.json ?? false,
    tty: false,
    color: false,
    nonInteractive: true,
    only: [],
    columns: undefined,
  });
  const api = { ...(await tools.director()), output: async (id: number) => OUTPUTS[id] ?? "" };
  const code = await command.run(typedOptionsOf(given), { ...tools, ui, director: async () => api });
  ui.close();
  return { out, code, requests: heard.requests };
}

describe("explain", () => {
  it("shows the newest task of the deployment that changed something", async () => {
    const { out, code, requests } = await printed(explain, {}, { deployment: "shop" });
    expect(code).toBe(0);
    expect(requests.find(({ path }) => path === "/tasks")?.query).toMatchObject({ deployment: "shop" });
    expect(out).toMatch(/^Task 7: create deployment of shop \(done\)\n/);
    expect(out).toContain("Director -> CPI local: create_vm (v2, stemcell v3) ... 412 ms");
    expect(out).toMatch(/No registry was involved.*\nIt took 1000 ms/);
  });

  it("shows the task that was asked for, also when nothing was said in it", async () => {
    expect((await printed(explain, { task: "8" })).out).toContain("Task 8: create deployment of shop (done)");
    expect((await printed(explain, { task: "9" })).out).toContain("Nothing was said");
  });

  it("gives as many tasks as there are, in the order in which they ran", async () => {
    const { out } = await printed(explain, { last: "5" });
    expect(out.match(/^Task \d+/gm)).toEqual(["Task 7"]);
  });

  it.each(["0", "x", "-1"])("refuses --task %s", async (id) => {
    await expect(printed(explain, { task: id })).rejects.toThrow("is not the number of a task");
  });

  it("prints every call as a row, in full, with --json", async () => {
    const { out } = await printed(explain, {}, { json: true });
    const document = JSON.parse(out) as {
      readonly Tables: readonly { readonly Rows: readonly Record<string, string>[] }[];
      readonly Lines: readonly string[];
    };
    expect(document.Tables[0]?.Rows).toHaveLength(7);
    expect(document.Tables[0]?.Rows[1]).toMatchObject({
      ...{ task: "7", message: "create_vm", to: "CPI local", versions: "v2, stemcell v3", ms: "412" },
      answer: expect.stringContaining("vm-1"),
    });
    expect(document.Lines.join(" ")).toMatch(/Task 7.*No registry was involved.*It took/);
  });

  it("fits a narrow terminal", async () => {
    const { out } = await printed(explain, {}, { columns: 50 });
    for (const line of out.split("\n")) expect(line.length, line).toBeLessThanOrEqual(50);
  });
});

describe("matrix", () => {
  it("shows the eight mixes, and in which one each VM of the Director runs", async () => {
    const { out } = await printed(matrix, {}, { columns: 200 });
    expect(out).toMatch(/^8 .*user-data +no +1 +shop: db\/0/m);
    expect(out).toMatch(/^5 .*registry +yes +1 +old: db\/0/m);
    expect(out).toContain("2 VMs run: 1 without a registry, 1 with one.");
    expect(out).toContain("Of 1 more this Director does not say");
  });

  it("lists the VMs of one deployment", async () => {
    const { out, requests } = await printed(matrix, {}, { deployment: "shop" });
    expect(requests.map(({ path }) => path)).toEqual(["/info", "/deployments/shop/vms"]);
    expect(out).toContain("The only VM runs without a registry.");
  });

  it("fits a narrow terminal", async () => {
    const { out } = await printed(matrix, {}, { columns: 40 });
    for (const line of out.split("\n")) expect(line.trimEnd().length, line).toBeLessThanOrEqual(40);
  });
});
