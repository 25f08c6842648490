declare module '@20minutes/s3rver' {
  export default class S3rver {
    constructor(options: object);
    store: {
      putObject(object: { bucket: string; key: string }): Promise<object>;
      deleteObject(bucket: string, key: string): Promise<void>;
    };
    run(): Promise<{ port: number }>;
    close(): Promise<void>;
  }
}
