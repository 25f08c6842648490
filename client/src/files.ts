/**
 * Bytes that a `Blob` accepts: `Uint8Array<ArrayBuffer>`. Before 5.7, TypeScript has no type arguments for `Uint8Array`.
 */
export type Bytes = ReturnType<Uint8ArrayConstructor['of']>;

/** A file to upload. A `File` from a form or from `new File` also has these fields, so you can pass it as it is. */
export type FileUpload = File | NamedContent;

/** The content of a file with its name. */
export interface NamedContent {
  /** The name of the file, without a path. */
  name: string;
  /** The media type, such as `text/plain`. Default: the type of the `Blob`, or `application/octet-stream`. */
  type?: string | undefined;
  /**
   * The content: a `Blob`, such as the result of `openAsBlob` in Node.js, bytes, or a stream, such as a `ReadableStream`
   * or the result of `createReadStream` in Node.js. The client can't repeat a stream, so it doesn't retry the call.
   */
  content: Blob | Bytes | AsyncIterable<Uint8Array> | ReadableStream<Uint8Array>;
  /** The size in bytes. Required if `content` is a stream. */
  size?: number | undefined;
}

/** A file that the client downloads. */
export interface Download {
  /** The name of the file. Undefined in a browser if the server doesn't allow the origin of the page (CORS). */
  name: string | undefined;
  /** The declared type of the upload. The content can differ from it, so treat the file as untrusted. */
  type: string;
  /** The size in bytes. */
  size: number;
  /**
   * The content. Read it to the end, or cancel it. Convert it with `new Response(body).blob()`, or with
   * `Readable.fromWeb(body)` in Node.js.
   */
  body: ReadableStream<Bytes>;
}

/** The body of an upload as `fetch` accepts it. */
export interface FileBody {
  name: string;
  content: Blob | ReadableStream<Uint8Array>;
  /** The headers that describe the body. `fetch` itself sets the length of a `Blob`. */
  headers: Record<string, string>;
}

/** Converts a file to the body of a request. @throws TypeError if the content is a stream without a size */
export function toFileBody(file: FileUpload): FileBody {
  if (file instanceof Blob) return fromBlob(file.name, file, file.type);
  const { name, content, size, type } = file;
  if (content instanceof Blob) return fromBlob(name, content, type ?? content.type);
  if (content instanceof Uint8Array) return fromBlob(name, new Blob([content]), type);
  if (!Number.isSafeInteger(size)) throw new TypeError('size is missing. Pass the number of bytes of the stream.');
  const headers = { 'content-type': type || defaultType, 'content-length': String(size) };
  return { name, content: content instanceof ReadableStream ? content : toReadableStream(content), headers };
}

const defaultType = 'application/octet-stream';

function fromBlob(name: string, content: Blob, type: string | undefined): FileBody {
  return { name, content, headers: { 'content-type': type || defaultType } };
}

/** Doesn't use `ReadableStream.from`, because not all browsers have it. */
function toReadableStream(chunks: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const iterator = chunks[Symbol.asyncIterator]();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await iterator.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await iterator.return?.();
    },
  });
}

/** Converts a successful response to a download. */
export function toDownload({ headers, body }: Response): Download {
  // The parameter `filename*` contains the name in UTF-8 (RFC 8187).
  const name = /filename\*=UTF-8''([^;]+)/i.exec(headers.get('content-disposition') ?? '')?.[1];
  return {
    name: name && decodeURIComponent(name),
    type: headers.get('content-type') ?? defaultType,
    size: Number(headers.get('content-length')),
    body: (body ?? new Blob([]).stream()) as Download['body'],
  };
}
