/* What browsers have and the compiler that checks these files does not know yet. */
declare class DecompressionStream {
  constructor(format: string);
  readable: ReadableStream;
  writable: WritableStream;
}
interface Uint8ArrayConstructor {
  fromBase64?(text: string): Uint8Array;
}
