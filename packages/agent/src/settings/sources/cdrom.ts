import { readFromDrive } from "./mounted-drive.ts";
import type { SettingsReader, SourceTools } from "./source.ts";

/** The CD-ROM that vSphere's CPI inserts. Ejected afterwards, so that the host can put in the next one. */
export function cdromSource(options: { readonly FileName: string }, tools: SourceTools): SettingsReader {
  const name = `CDROM ${options.FileName}`;
  const device = tools.paths.system("dev", "sr0");
  return {
    name,
    read: async (signal) => {
      const text = await readFromDrive(name, device, tools, signal, (read) => read(options.FileName));
      await tools.exec("eject", [device]).catch(() => undefined);
      return text;
    },
  };
}
