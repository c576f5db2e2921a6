export declare function bundleConsole(to: string): Promise<void>;
