import type { SettingsSource } from "@slipway/protocol/agent/agent-config";
import { cdromSource } from "./cdrom.ts";
import { configDriveSource } from "./config-drive.ts";
import { fileSource } from "./file.ts";
import { httpSource, instanceMetadataSource } from "./http.ts";
import { rawDiskSource } from "./raw-disk.ts";
import type { SettingsReader, SourceTools } from "./source.ts";

/** The source an entry of agent.json stands for. */
export function makeSource(entry: SettingsSource, tools: SourceTools): SettingsReader {
  switch (entry.Type) {
    case "File":
      return fileSource(entry, tools);
    case "HTTP":
      return httpSource(entry, tools);
    case "InstanceMetadata":
      return instanceMetadataSource(entry, tools);
    case "ConfigDrive":
      return configDriveSource(entry, tools);
    case "CDROM":
      return cdromSource(entry, tools);
    case "RawDisk":
      return rawDiskSource(entry, tools);
  }
}
