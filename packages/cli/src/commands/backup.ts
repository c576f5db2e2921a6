import { passphraseOf } from "../backup/passphrase.ts";
import { besideOf, placeOf, placeOptions } from "../backup/place.ts";
import type { Command } from "../command.ts";
import { sizeText } from "../ui/size-text.ts";

/** Ours: upstream leaves it to the database's tools and to BBR. */
export const backup: Command = {
  name: "backup",
  summary: "write the Director's state into one file, also while the Director runs",
  topic: "this machine",
  arguments: [{ name: "<file>", about: "the backup; one that is there is never replaced" }],
  options: placeOptions,
  examples: [
    ["slipway backup director.backup", "of `slipway up`"],
    ["slipway backup --passphrase-file ~/.backup-phrase director.backup", "encrypted"],
    ["slipway backup --config director.yml director.backup", "of a slipway-director"],
  ],
  async run(given, { ui, env, home, clock, random }) {
    const { backUp } = await import("@slipway/director/backup/back-up");
    const place = await placeOf(given, { home });
    const to = given.argument(0) ?? "";
    const passphrase = await passphraseOf(given, env);
    const { stateDir, config } = place;
    const taken = await backUp({
      ...{ stateDir, config, beside: besideOf(place), to, passphrase, clock, random },
    });
    const { manifest, size } = taken;
    const rows = manifest.tables.reduce((sum, table) => sum + table.rows, 0);
    const blobs = manifest.files.filter(({ path }) => path.startsWith("state/blobs/")).length;
    ui.table({
      content: "",
      transpose: true,
      labeled: true,
      header: {
        file: "File",
        size: "Size",
        encrypted: "Encrypted",
        taken_at: "Taken at",
        director: "Director",
        version: "Version",
        database: "Database",
        files: "Files",
      },
      rows: [
        [
          to,
          sizeText(size),
          passphrase === undefined ? "no" : "yes",
          manifest.taken_at,
          manifest.director.uuid,
          manifest.version,
          `version ${manifest.migration}, ${manifest.tables.length} tables, ${rows} rows`,
          `${manifest.files.length} with digests, ${blobs} of them blobs`,
        ],
      ],
      notes:
        passphrase === undefined
          ? ["It holds the Director's keys and passwords: keep it as safe as them."]
          : [],
    });
    return 0;
  },
};
