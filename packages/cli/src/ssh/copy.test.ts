import { describe, expect, it } from "vitest";
import { copyOf } from "./copy.ts";

const host = { name: "web/6f1c", ip: "10.0.0.2", port: 22, through: [] };
const args = (...given: readonly string[]) => copyOf(given).args("bosh_a", host);

describe("a copy", () => {
  it("goes to VMs and comes from them", () => {
    expect(args("a.txt", "web/0:/tmp/a")).toEqual(["./a.txt", "bosh_a@10.0.0.2:/tmp/a"]);
    expect(args("web/0:/tmp/a", "/here")).toEqual(["bosh_a@10.0.0.2:/tmp/a", "/here"]);
    expect(copyOf(["a", "b", "web:/tmp"]).slug).toBe("web");
  });

  it("into files named by the instance keeps them apart", () => {
    expect(args("web:/tmp/a", "logs-((instance_id)).txt").at(-1)).toBe("./logs-6f1c.txt");
  });

  it("takes a path with a colon after a slash as a local file", () => {
    expect(args("./a:b", "web:/tmp")[0]).toBe("./a:b");
    expect(args("/var/log/x/a:b", "web:/tmp")[0]).toBe("/var/log/x/a:b");
  });

  it("never hands scp an option", () => {
    expect(args("-oProxyCommand=x", "web:/tmp")[0]).toBe("./-oProxyCommand=x");
  });

  it.each([[["a", "b"]], [["web:/a"]], [["web:/a", "db:/b"]]])("refuses %j", (given) => {
    expect(() => copyOf(given)).toThrow("is not files here and a place in VMs");
  });
});

it("a copy with --director has paths of its one VM behind a colon", () => {
  const vm = copyOf([":/tmp/a", "b"], true);
  expect(vm.slug).toBe("create-env-vm/0");
  expect(vm.args("bosh_a", host)).toEqual(["bosh_a@10.0.0.2:/tmp/a", "./b"]);
  expect(copyOf(["b", "create-env-vm/0:/tmp/a"], true).args("bosh_a", host)[1]).toBe(
    "bosh_a@10.0.0.2:/tmp/a",
  );
});
