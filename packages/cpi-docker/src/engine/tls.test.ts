import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { embed } from "@slipway/cpi-sdk/embed";
import { AGENT_SERVER, CA, DIRECTOR, OTHER_CA } from "@slipway/testkit/certificates";
import { freePort } from "@slipway/testkit/free-port";
import { needs } from "@slipway/testkit/needs";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { cpiDocker } from "../cpi-docker.ts";
import { OwnEngine, ownEngineTrouble } from "../testing/own-engine.ts";

const trouble = await ownEngineTrouble();

/** A client's certificate whose time was January 2020, of an authority that the engine trusts. It protects nothing. */
const EXPIRED = {
  ca: `-----BEGIN CERTIFICATE-----
MIIBjDCCATOgAwIBAgIBATAKBggqhkjOPQQDAjAtMRYwFAYDVQQKDA1DbG91ZCBG
b3VuZHJ5MRMwEQYDVQQDDApleHBpcmVkIENBMCAXDTIwMDEwMTAwMDAwMFoYDzIx
MjAwMTAxMDAwMDAwWjAtMRYwFAYDVQQKDA1DbG91ZCBGb3VuZHJ5MRMwEQYDVQQD
DApleHBpcmVkIENBMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEcgf1nqlsM2d6
oXSOdgB/ZB4zrkaftQtBe4U4xQ+FNY8rTdM9zve8QlkaWkf8atK8SVxtzwdhBmDe
8Peg+gUKqqNCMEAwDwYDVR0TAQH/BAUwAwEB/zAOBgNVHQ8BAf8EBAMCAQYwHQYD
VR0OBBYEFGCvZS4xaKj3RVfbDTGKWOPm//UgMAoGCCqGSM49BAMCA0cAMEQCIDLK
nI/dAqablJnYwRxLW+0hOL7JTR+tscD4DGrU9SDVAiAQ9mJH5P/lyeOmpF1src05
m/AiegWyoQaAn6+Kzu4DMw==
-----END CERTIFICATE-----
`,
  certificate: `-----BEGIN CERTIFICATE-----
MIIBvDCCAWGgAwIBAgIBAjAKBggqhkjOPQQDAjAtMRYwFAYDVQQKDA1DbG91ZCBG
b3VuZHJ5MRMwEQYDVQQDDApleHBpcmVkIENBMB4XDTIwMDEwMTAwMDAwMFoXDTIw
MDIwMTAwMDAwMFowKjEWMBQGA1UECgwNQ2xvdWQgRm91bmRyeTEQMA4GA1UEAwwH
ZXhwaXJlZDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABJ+IyTjV7KcQr0AtsIs+
phV3d2e3v4ErN+k2+hujEkxbuYXGwqbbAFnaHgAHH8B1gYof+EViOXp2o5fkF6EY
aW6jdTBzMAwGA1UdEwEB/wQCMAAwDgYDVR0PAQH/BAQDAgeAMBMGA1UdJQQMMAoG
CCsGAQUFBwMCMB0GA1UdDgQWBBTjRZEhfzEu7AVb2AUyLWO0H9jAQzAfBgNVHSME
GDAWgBRgr2UuMWio90VX2w0xiljj5v/1IDAKBggqhkjOPQQDAgNJADBGAiEA5rEJ
W/zHTkLLfjdLtHfJLJnOyr35MNcOrv1lX1Vkk3QCIQCFXLvmaFmg+GserznXZOYy
bgjXjqKgPotyKCADPHukoQ==
-----END CERTIFICATE-----
`,
  private_key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg4gM6zLlySOGePg5p
Snt1XUYQek8fwsKMma9Yj89lmqqhRANCAASfiMk41eynEK9ALbCLPqYVd3dnt7+B
KzfpNvoboxJMW7mFxsKm2wBZ2h4ABx/AdYGKH/hFYjl6dqOX5BehGGlu
-----END PRIVATE KEY-----
`,
};

describe.runIf(needs("docker", trouble === undefined, trouble))("a Docker Engine behind TLS", () => {
  let dir: string;
  let engine: OwnEngine;
  let host: string;
  const tls = { ca: CA, certificate: DIRECTOR.certificate, private_key: DIRECTOR.privateKey };

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), "slipway-tls-"));
    const file = async (name: string, text: string) => {
      await writeFile(join(dir, name), text, { mode: 0o600 });
      return join(dir, name);
    };
    host = `tcp://127.0.0.1:${await freePort()}`;
    const authorities = await file("ca.pem", CA + EXPIRED.ca);
    const certificate = await file("cert.pem", AGENT_SERVER.certificate);
    const key = await file("key.pem", AGENT_SERVER.privateKey);
    const files = ["--tlscacert", authorities, "--tlscert", certificate, "--tlskey", key];
    engine = await OwnEngine.open(["--tlsverify", ...files, "-H", host]);
  });
  afterAll(async () => {
    await engine.close();
    await rm(dir, { recursive: true, force: true });
  });

  const ask = (docker: object) => {
    const cpi = embed(cpiDocker, { config: { docker: { dir, ...docker } } });
    return cpi.request({
      method: "has_vm",
      arguments: ["vm-1"],
      context: { director_uuid: "d" },
      api_version: 2,
    });
  };

  it("answers a client with its certificate", async () => {
    expect(await ask({ host, tls })).toMatchObject({ result: false, error: null });
  });

  it.each([
    [
      "another authority than the engine's",
      () => ({ host, tls: { ...tls, ca: OTHER_CA } }),
      /its certificate is not of the authority docker\.tls\.ca/,
    ],
    ["no TLS", () => ({ host }), /it speaks TLS there, and docker\.tls is not set/],
    [
      "a certificate that has expired",
      () => ({ host, tls: { ...EXPIRED, ca: CA } }),
      /does not accept docker\.tls\.certificate/,
    ],
    [
      "the key of another certificate",
      () => ({ host, tls: { ...tls, private_key: EXPIRED.private_key } }),
      /docker\.tls is not usable: .*mismatch/,
    ],
    [
      "a key that is none",
      () => ({ host, tls: { ...tls, private_key: "k3y" } }),
      /docker\.tls is not usable/,
    ],
    ["TLS where there is none", async () => ({ host: await plain(), tls }), /does not speak TLS there/],
  ])("is not reached with %s, which the error names, and no key", async (_, docker, said) => {
    const { error } = await ask(await docker());
    expect(error?.message).toMatch(/^DOC-001/);
    expect(error?.message).toMatch(said);
    expect(error?.message).not.toMatch(/PRIVATE KEY|k3y/);
  });
});

async function plain(): Promise<string> {
  const server = createServer((_, response) => void response.end('{"ApiVersion":"1.41"}'));
  onTestFinished(() => stop(server));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
const stop = (server: Server) => {
  server.closeAllConnections();
  server.close();
};
