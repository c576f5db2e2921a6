import {
  type CloudMethods,
  cloudCpi,
  MemoryCloud,
  type MemoryCloudOptions,
  makeVm,
} from "@slipway/testkit/memory-cloud";

/** A cloud and a list in which undos and removals note themselves. */
export function undoStage(
  options: MemoryCloudOptions & {
    createVm: (cloud: MemoryCloud, done: string[]) => CloudMethods["createVm"];
  },
) {
  const cloud = new MemoryCloud();
  const done: string[] = [];
  const { createVm, ...rest } = options;
  const cpi = cloudCpi(cloud, {
    ...rest,
    methods: {
      deleteVm: ({ vmCid }) => {
        done.push(`delete ${vmCid}`);
        cloud.vms.delete(vmCid);
      },
      ...rest.methods,
      createVm: createVm(cloud, done),
    },
  });
  return { cloud, cpi, done };
}

/** Registers two undos and makes a VM. */
export const usual =
  (cloud: MemoryCloud, done: string[]): CloudMethods["createVm"] =>
  async (args, call) => {
    call.cleanup(() => void done.push("undo 1"));
    call.cleanup(async () => {
      await Promise.resolve();
      done.push("undo 2");
    });
    return makeVm(cloud, args, call);
  };
