import { createReadStream } from "node:fs";
import { access } from "node:fs/promises";
import { stemcellUploadAnswer } from "@slipway/protocol/director/stemcell";
import type { ApiRequest, DirectorApi } from "../api/director-api.ts";
import { runTask } from "../api/run-task.ts";
import type { Command, TypedInput } from "../command.ts";
import { NoSuchFile } from "../uploads/errors.ts";

export const uploadStemcell: Command = {
  name: "upload-stemcell",
  aliases: ["us"],
  summary: "upload a stemcell to the Director",
  topic: "configuration",
  arguments: [{ name: "<path-or-url>", about: "a .tgz, or a URL that the Director fetches itself" }],
  options: [
    { flags: "--fix", about: "replace it where it is there already" },
    { flags: "--name <name>", about: "of a URL: nothing is fetched when this one is there already" },
    { flags: "--version <version>", about: "of a URL, with --name" },
    { flags: "--sha1 <digest>", about: "of a URL: what is fetched must have this digest" },
  ],
  examples: [
    ["slipway upload-stemcell stemcell.tgz", "a file"],
    ["slipway upload-stemcell --sha1 4f1e... https://example.org/stemcell.tgz", "the Director downloads it"],
  ],
  async run(given, { ui, director }) {
    const from = given.argument(0) ?? "";
    const remote = /^https?:\/\//i.test(from);
    const stemcell = remote ? namedBy(given) : await namedInside(from);
    const api = await director();
    if (!given.flag("fix") && !(await needed(api, stemcell))) {
      ui.line(`Stemcell '${stemcell.name}/${stemcell.version}' already exists.`);
      return 0;
    }
    const query = { fix: given.flag("fix") ? "true" : undefined };
    const request = { method: "POST", path: "/stemcells", query } as const;
    await runTask(api, { ...request, ...(remote ? link(from, given) : archive(from)) });
    return 0;
  },
};

interface Named {
  readonly name: string;
  readonly version: string;
}

const namedBy = (given: TypedInput): Named => ({
  name: given.text("name") ?? "",
  version: given.text("version") ?? "",
});

async function namedInside(path: string): Promise<Named> {
  try {
    await access(path);
  } catch (cause) {
    throw NoSuchFile({ path }, { cause });
  }
  const { stemcellName } = await import("../uploads/stemcell-name.ts");
  return await stemcellName(path);
}

async function needed(api: DirectorApi, stemcell: Named): Promise<boolean> {
  const answer = await api.json(
    {
      method: "POST",
      path: "/stemcell_uploads",
      contentType: "application/json",
      body: JSON.stringify({ stemcell }),
    },
    stemcellUploadAnswer,
  );
  return answer.needed;
}

const link = (location: string, given: TypedInput): Pick<ApiRequest, "body" | "contentType"> => ({
  contentType: "application/json",
  body: JSON.stringify({ location, sha1: given.text("sha1") }),
});

const archive = (path: string): Pick<ApiRequest, "body" | "contentType"> => ({
  contentType: "application/x-compressed",
  body: createReadStream(path),
});
