import { DockerCloud, engineTrouble } from "@slipway/testkit/docker-cloud";
import { needs } from "@slipway/testkit/needs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const trouble = await engineTrouble();

// That people get in where there is an ssh server is tried with the stemcell of Debian packages, of the command.
describe.runIf(needs("docker", trouble === undefined, trouble))("a container without an ssh server", () => {
  let cloud: DockerCloud;
  beforeAll(async () => {
    cloud = await DockerCloud.open();
  });
  afterAll(() => cloud.close());

  it("refuses to let people in, says what its stemcell lacks, and makes no user", async () => {
    const vm = await (await cloud.newVm(await cloud.newStemcell())).pong();
    const before = await vm.must("cat /etc/passwd");
    const params = { user: "bosh_someone", public_key: "ssh-ed25519 AAAA someone" };
    const { exception } = await vm.ask("ssh", "setup", params);
    expect(exception?.message).toContain("there is no ssh server in this VM");
    expect(await vm.must("cat /etc/passwd")).toBe(before);
    // A cleanup all the same finds nothing to do.
    expect(await vm.value("ssh", "cleanup", { user_regex: ".*" })).toEqual({
      command: "cleanup",
      status: "success",
    });
  });
});
