export declare function recorder(real: string, dir: string): string;
export declare function recorded(dir: string): readonly {
  readonly code: number;
  readonly file: string;
  readonly test: string;
  /** Its last words, if it failed. */
  readonly said: string;
  readonly args: readonly string[];
}[];
