import * as v from "valibot";
import { jsonObject, open, text } from "../schema/json.ts";
import { doc, hidden } from "../schema/marks.ts";

const path = (what: string) => v.optional(text(what));

/** Source of the agent's settings: upstream's types and option names, and one type of ours. */
export const settingsSource = v.union(
  [
    open({ Type: v.literal("File"), SettingsPath: text("SettingsPath") }),
    open({
      Type: v.literal("HTTP"),
      URI: text("URI"),
      Headers: v.optional(v.nullable(hidden(jsonObject()))),
      UserDataPath: path("UserDataPath"),
      InstanceIDPath: path("InstanceIDPath"),
      SSHKeysPath: path("SSHKeysPath"),
      TokenPath: path("TokenPath"),
    }),
    open({
      Type: v.literal("InstanceMetadata"),
      URI: text("URI"),
      Headers: v.optional(v.nullable(hidden(jsonObject()))),
      SettingsPath: text("SettingsPath"),
    }),
    open({
      Type: v.literal("ConfigDrive"),
      DiskPaths: v.array(text("DiskPaths")),
      MetaDataPath: path("MetaDataPath"),
      UserDataPath: path("UserDataPath"),
    }),
    open({ Type: v.literal("CDROM"), FileName: text("FileName") }),
    open({
      Type: v.literal("RawDisk"),
      Serial: doc(text("Serial"), "ours: settings JSON at the start of the disk"),
    }),
  ],
  "expected a settings source: File, HTTP, InstanceMetadata, ConfigDrive, CDROM or RawDisk",
);
export type SettingsSource = v.InferOutput<typeof settingsSource>;

const linux = open({
  UseDefaultTmpDir: v.optional(v.boolean()),
  UsePreformattedPersistentDisk: v.optional(v.boolean()),
  BindMountPersistentDisk: v.optional(v.boolean()),
  SkipDiskSetup: v.optional(v.boolean()),
  DevicePathResolutionType: v.optional(v.picklist(["", "virtio", "scsi", "iscsi"])),
  CreatePartitionIfNoEphemeralDisk: v.optional(v.boolean()),
  PartitionerType: v.optional(v.string()),
  LunDeviceSymlinkPath: v.optional(v.string()),
  UseWholePersistentDisk: v.optional(
    doc(v.boolean(), "ours: the file system is on the disk itself, not on a partition"),
  ),
});

/** `agent.json`, with upstream's keys where they mean the same. */
export const agentConfig = open({
  Platform: v.optional(v.nullable(open({ Linux: v.optional(v.nullable(linux)) }))),
  Infrastructure: open({
    Settings: open({
      Sources: v.pipe(v.array(settingsSource), v.nonEmpty("at least one settings source is needed")),
      UseRegistry: v.optional(v.boolean()),
      UseServerName: v.optional(v.boolean()),
    }),
  }),
});
export type AgentConfig = v.InferOutput<typeof agentConfig>;
export type LinuxConfig = v.InferOutput<typeof linux>;
