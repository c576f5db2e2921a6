import type { Clock } from "@slipway/kernel/clock";
import type { LockFile } from "@slipway/kernel/lock-file";
import { passphraseOf } from "../backup/passphrase.ts";
import { besideTargets, placeOf, placeOptions } from "../backup/place.ts";
import type { Command } from "../command.ts";
import type { Home } from "../home/home.ts";

export const restore: Command = {
  name: "restore",
  summary: "make a Director's state from a backup, in a state directory that is empty",
  topic: "this machine",
  arguments: [{ name: "<file>", about: "what `slipway backup` has written" }],
  options: [
    ...placeOptions.map((option) =>
      option.flags.startsWith("--passphrase")
        ? { ...option, about: "of an encrypted backup; or SLIPWAY_BACKUP_PASSPHRASE" }
        : option,
    ),
    { flags: "--replace", about: "move the state that is there aside; it is kept" },
  ],
  examples: [
    ["slipway restore director.backup", "then `slipway up`, and `slipway -d NAME cloud-check`"],
    ["slipway restore --state-dir /var/lib/slipway/director director.backup", "of a slipway-director"],
  ],
  async run(given, { ui, env, home, clock }) {
    const { restore: restored } = await import("@slipway/director/backup/restore");
    const place = await placeOf(given, { home });
    const { stateDir, config } = place;
    const from = { path: given.argument(0) ?? "", passphrase: await passphraseOf(given, env) };
    const lock = place.home && (await heldHome(place.home, clock));
    try {
      const { manifest, movedTo, stayed } = await restored({
        ...{ from, stateDir, config, replace: given.flag("replace"), beside: besideTargets(place), clock },
      });
      if (movedTo !== undefined) ui.line(`The state that was there is kept: ${movedTo}`);
      for (const path of stayed) ui.line(`${path} was there and stays as it is.`);
      ui.line(`Restored ${stateDir} from a backup of ${manifest.taken_at}, version ${manifest.version}.`);
      ui.line("Tasks that were under way then are not resumed.");
      ui.line("Start the Director, then look at the cloud of each deployment before it is changed again:");
      ui.line("");
      ui.line(
        `  ${place.home === undefined ? `slipway-director --state-dir ${stateDir}` : "slipway up --detach"}`,
      );
      ui.line("  slipway -d NAME cloud-check");
      return 0;
    } finally {
      await lock?.release();
    }
  },
};

/** Locks the home, so that no other command starts or stops its processes meanwhile. */
async function heldHome(home: Home, clock: Clock): Promise<LockFile> {
  const [{ lockHome }, { makeHome }] = await Promise.all([
    import("../up/home-dir.ts"),
    import("../home/make-home.ts"),
  ]);
  await makeHome(home, process.getuid?.() ?? 1);
  return await lockHome(home, clock);
}
