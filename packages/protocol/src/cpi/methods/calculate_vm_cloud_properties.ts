import { integer, jsonObject, open } from "../../schema/json.ts";
import { arg, method, result } from "../method.ts";

export const vmResources = open({
  ram: integer(1, "ram"),
  cpu: integer(1, "cpu"),
  ephemeral_disk_size: integer(1, "ephemeral_disk_size"),
});

export const calculateVmCloudProperties = method({
  name: "calculate_vm_cloud_properties",
  summary: "The smallest VM type that has these resources.",
  args: [arg("desired", vmResources, "ram and disk in MiB")],
  results: [result(jsonObject(), "cloud_properties for create_vm")],
  since: 1,
  mandatory: false,
  repeat: "harmless",
  errors: ["CloudError", "NotImplemented"],
  rules: ["Needed when a manifest uses `vm_resources`."],
});
