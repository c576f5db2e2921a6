import { expect } from "vitest";

/** No text a caller or an operator reads may hold this: every planted secret begins with it. */
const CANARY = "CANARY-";

const secret = (name: string) => `${CANARY}${name}`;

/** Secret of several lines, as certificates are, which JSON escapes. */
const PEM = `-----BEGIN PRIVATE KEY-----\n${secret("private-key")}\n-----END PRIVATE KEY-----\n`;

/** An env with a credential in every place that has one. */
export const PLANTED_ENV = {
  bosh: {
    password: secret("vcap-password"),
    mbus: {
      urls: [`nats://agent:${secret("mbus-url")}@10.0.4.2:4222`],
      cert: { ca: "the ca", certificate: "the certificate", private_key: PEM },
    },
    blobstores: [{ provider: "dav", options: { user: "agent", password: secret("blobstore/pass word") } }],
    tags: { team: "a" },
  },
};

/** Properties of a CPI config, flat in the context. */
export const PLANTED_CONTEXT = {
  password: secret("context-password"),
  access_key: secret("context-access-key"),
  region: "r-1",
};

/** The sections every CPI has. */
export const PLANTED_PROPERTIES = {
  registry: {
    endpoint: `http://registry:${secret("endpoint-password")}@127.0.0.1:1`,
    user: "registry",
    password: secret("registry p@ss/word"),
  },
  agent: {
    mbus: `nats://nats:${secret("agent-mbus")}@10.0.4.2:4222`,
    blobstore: { provider: "dav", options: { password: secret("agent-blobstore") } },
  },
};

/** Fails when any planted secret shows, in any spelling that keeps its first part. */
export function expectNoSecrets(text: string): void {
  const at = text.indexOf(CANARY);
  if (at !== -1) expect.fail(`a secret shows: ...${text.slice(Math.max(0, at - 60), at + 60)}...`);
}
