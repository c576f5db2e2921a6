import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { envText } from "./env-file.ts";

it.each(["plain", 'it\'s $HOME `id` \\ "x" ; #', "  spaces  "])(
  "a shell reads %j back as it is",
  (secret) => {
    const dir = mkdtempSync(join(tmpdir(), "slipway-env-"));
    try {
      const caFile = join(dir, "a directory's", "ca.crt");
      writeFileSync(
        join(dir, "env"),
        envText({ dir, url: "https://127.0.0.1:25555", caFile, admin: { name: "admin", password: secret } }),
      );
      const script =
        '. "$1"; printf "%s\\n%s\\n%s\\n%s\\n%s" "$SLIPWAY_HOME" "$BOSH_ENVIRONMENT" "$BOSH_CA_CERT" "$BOSH_CLIENT" "$BOSH_CLIENT_SECRET"';
      const read = execFileSync("sh", ["-c", script, "sh", join(dir, "env")], { encoding: "utf8" });
      expect(read).toBe([dir, "https://127.0.0.1:25555", caFile, "admin", secret].join("\n"));
    } finally {
      rmSync(dir, { recursive: true });
    }
  },
);

it("passwords that stand in a configuration are not copied", () => {
  expect(envText({ dir: "/d", url: "https://h:1", caFile: "/ca", admin: undefined })).not.toContain(
    "BOSH_CLIENT",
  );
});
