import type { PageMeta } from '@itsm-api/contract';

/** 200 with one resource in the envelope (spec §2). */
export function ok<Data>(data: Data) {
  return { status: 200, body: { success: true, data } } as const;
}

/** 201 with the resource that was made. */
export function created<Data>(data: Data) {
  return { status: 201, body: { success: true, data } } as const;
}

/** 200 with a page of a list. */
export function page<Data>({ data, meta }: { data: Data[]; meta: PageMeta }) {
  return { status: 200, body: { success: true, data, meta } } as const;
}
