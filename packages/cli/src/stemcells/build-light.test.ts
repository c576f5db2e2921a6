import { join } from "node:path";
import { systemClock } from "@slipway/kernel/clock";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { describe, expect, it } from "vitest";
import { buildLightStemcell, readReference } from "./build-light.ts";
import { inspectStemcell } from "./inspect-archive.ts";

const DIGEST = `sha256:${"0a".repeat(32)}`;

describe("a stemcell of an image", () => {
  it("is empty, and names the image and its digest", async () => {
    const { path, remove } = await temporaryDirectory();
    try {
      const image = readReference(`ghcr.io/acme/thing:1.2@${DIGEST}`);
      expect(image).toMatchObject({ short: "thing", version: "1.2" });
      const order = { image, name: "thing", version: "1.2", os: "ubuntu-noble", clock: systemClock };
      const { file } = await buildLightStemcell({ ...order, to: join(path, "l.tgz") });
      const { stemcell, light } = await inspectStemcell(file);
      expect(light).toBe(true);
      expect(stemcell).toMatchObject({
        operatingSystem: "ubuntu-noble",
        apiVersion: 3,
        formats: ["slipway-docker", "docker-light"],
        cloudProperties: { image_reference: "ghcr.io/acme/thing:1.2", digest: DIGEST },
      });
    } finally {
      await remove();
    }
  });

  it.each([
    [`thing@${DIGEST}`, "thing", "thing", undefined],
    [`localhost:5000/a/b-c:latest@${DIGEST}`, "localhost:5000/a/b-c:latest", "b-c", undefined],
    [`registry:5000/x:2@${DIGEST}`, "registry:5000/x:2", "x", "2"],
  ])("is read from %s", (reference, name, short, version) => {
    expect(readReference(reference)).toEqual({ name, short, version, digest: DIGEST });
  });

  it.each([
    ["", "no name"],
    ["thing", "no digest"],
    ["ghcr.io/acme/thing:1.2", "no digest"],
    ["thing@sha256:12", "64 hex"],
    [`thing@${DIGEST}@${DIGEST}`, "no name"],
    [`../thing@${DIGEST}`, "no name"],
    [`a b@${DIGEST}`, "no name"],
  ])("is not made of %j", (reference, why) => {
    expect(() => readReference(reference)).toThrow(
      expect.objectContaining({ code: "CLS-009", message: expect.stringContaining(why) }),
    );
  });
});
