import { afterEach, beforeEach, expect, it } from "vitest";
import { FakeDirector, INFO } from "../testing/fake-director.ts";
import { runCli } from "../testing/run-cli.ts";

let director: FakeDirector;
beforeEach(async () => {
  director = await FakeDirector.start();
  director.json("GET /info", INFO);
});
afterEach(() => director.close());

const instance = (id: string, vm: string | null, state = "started") => ({
  ...{ job_name: "db", id, index: 0, az: "z1", ips: ["10.0.0.3"], state, vm_cid: vm, processes: [] },
  job_state: vm === null ? null : "running",
});

type Shown = ReturnType<typeof instance> & { readonly errand?: boolean };

async function shown(...all: readonly Shown[]): Promise<string> {
  const result = `${all.map((one) => JSON.stringify(one)).join("\n")}\n`;
  director.task("GET /deployments/shop/instances", 7, { result });
  const env = {
    BOSH_ENVIRONMENT: director.url,
    BOSH_CA_CERT: director.ca,
    BOSH_CLIENT: "a",
    BOSH_CLIENT_SECRET: "b",
  };
  const { code, out, err } = await runCli(["--tty", "-d", "shop", "instances"], { env });
  expect(code).toBe(0);
  return out + err;
}

it("an instance without a VM is named as one, with what makes it again", async () => {
  expect(await shown(instance("a1", "vm-1"), instance("b2", null))).toContain(
    "Without a VM: db/b2. `slipway -d shop cloud-check` makes one.",
  );
});

it("one that was stopped with --hard is to be started", async () => {
  const said = await shown(instance("a1", null, "detached"), instance("b2", null, "detached"));
  expect(said).toContain(
    "Without a VM: db/a1 (stopped with --hard), db/b2 (stopped with --hard). `slipway -d shop start` makes them.",
  );
});

it("an errand that does not run is not named among instances without a VM", async () => {
  expect(await shown({ ...instance("a1", null), errand: true })).not.toContain("Without a VM");
});

it("prints no note about instances that have VMs", async () => {
  expect(await shown(instance("a1", "vm-1"))).not.toContain("Without a VM");
});
