import { mkdir, mkdtemp, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { DockerCloud, engineTrouble } from "@slipway/testkit/docker-cloud";
import { testImage } from "@slipway/testkit/docker-image";
import { needs } from "@slipway/testkit/needs";
import { END, pax, type RawEntry, rawTar } from "@slipway/testkit/raw-tar";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const trouble = await engineTrouble();

describe.runIf(needs("docker", trouble === undefined, trouble))("a hostile stemcell", () => {
  let cloud: DockerCloud;
  /** On the engine's host, where these suites run too. */
  let outside: string;

  beforeAll(async () => {
    cloud = await DockerCloud.open();
    outside = join(cloud.dir, "outside");
    await mkdir(outside);
    await writeFile(join(outside, "secret"), "secret");
  });
  afterAll(() => cloud.close());

  const imageFile = async (bytes: Uint8Array): Promise<string> => {
    const path = join(await mkdtemp(join(cloud.dir, "hostile-")), "image");
    await writeFile(path, bytes);
    return path;
  };
  const up = "../".repeat(25);
  const escapes = (): [string, RawEntry[]][] => [
    ["a path that goes up", [{ name: `${up}${outside.slice(1)}/made`, content: "out" }]],
    ["a path from the root", [{ name: `${outside}/made`, content: "out" }]],
    [
      "a link out, and a file behind it",
      [
        { name: "x", type: "2", link: outside },
        { name: "x/made", content: "out" },
      ],
    ],
    [
      "a link up, and a file behind it",
      [
        { name: "x", type: "2", link: `${up}${outside}` },
        { name: "x/made", content: "out" },
      ],
    ],
    [
      "a hard link to a file of the host, and the file again",
      [
        { name: "x", type: "1", link: `${outside}/secret` },
        { name: "x", content: "changed" },
      ],
    ],
    ["a hard link that goes up", [{ name: "x", type: "1", link: `${up}${outside}/secret` }]],
    [
      "a link with a long way",
      [
        pax({ linkpath: `${up}${outside}` }),
        { name: "x", type: "2", link: "y" },
        { name: "x/made", content: "out" },
      ],
    ],
  ];

  it("cannot write outside of itself, whether the engine refuses it or keeps it inside", async () => {
    for (const [what, entries] of escapes()) {
      const { result } = await cloud.ask("create_stemcell", [await imageFile(rawTar(entries)), {}]);
      if (typeof result === "string") await cloud.result("delete_stemcell", [result]);
      expect([what, await readdir(outside)]).toEqual([what, ["secret"]]);
      expect(await readFile(join(outside, "secret"), "utf8")).toBe("secret");
    }
  });

  it.each<[string, () => Buffer]>([
    [
      "few bytes that become a disk full",
      () =>
        rawTar([
          pax({
            "GNU.sparse.major": "1",
            "GNU.sparse.minor": "0",
            "GNU.sparse.name": "big",
            "GNU.sparse.realsize": "1000000000000",
          }),
          { name: "a", content: "1\n0\n0\n" },
        ]),
    ],
    ["more claimed than sent", () => rawTar([{ name: "a", size: 2 ** 32 }])],
    [
      "zeros, packed",
      () =>
        Buffer.concat([
          gzipSync(rawTar([{ name: "a", size: 2 ** 32 }]).subarray(0, 512)),
          ...new Array<Buffer>(40).fill(gzipSync(Buffer.alloc(16 << 20))),
        ]),
    ],
    [
      "a good start and a bad end, packed",
      () =>
        gzipSync(
          Buffer.concat([
            rawTar([{ name: "a", content: random() }]).subarray(0, -END.length),
            rawTar([{ name: "b", type: "S" }]),
          ]),
        ),
    ],
    ["nothing", () => gzipSync(rawTar([]))],
  ])("of %s is refused, and leaves no image", async (_, bytes) => {
    const said = await cloud.refusal("create_stemcell", [await imageFile(bytes()), {}]);
    expect(said).toContain("DOC-008");
    expect(said).not.toContain("the engine says");
    expect(await cloud.images()).toEqual([]);
  });

  it("has no way to the host's memory and disks by device nodes of its own", async () => {
    const root = await readFile(await testImage());
    const nodes = rawTar([
      { name: "evil-memory", type: "3", device: [1, 1] },
      { name: "evil-disk", type: "4", device: [8, 0] },
      { name: "evil-log", type: "3", device: [1, 11] },
    ]);
    const image = await imageFile(Buffer.concat([root.subarray(0, -END.length), nodes]));
    const vm = await (await cloud.newVm(await cloud.newStemcell(image))).pong();
    for (const name of ["memory", "disk", "log"])
      expect(await vm.run(`head -c 1 /evil-${name}`)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining("Operation not permitted"),
      });
  });
});

/** Does not become smaller when it is packed, so that it is sent in several pieces. */
const random = (): string => {
  let seed = 1;
  const digit = () => {
    seed = (seed * 48271) % 2147483647;
    return seed.toString(36);
  };
  return Array.from({ length: 200_000 }, digit).join("");
};
