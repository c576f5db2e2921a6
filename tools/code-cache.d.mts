export function packProgram(program: {
  readonly from: string;
  readonly to: string;
  readonly split?: boolean;
  readonly settings: object;
}): Promise<void>;
export function removeCaches(to: string): Promise<void>;
