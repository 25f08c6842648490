/** Returns 200 with one resource in the envelope (spec §2). */
export function ok<Data>(data: Data) {
  return { status: 200, body: { success: true, data } } as const;
}

/** Returns 201 with the created resource. */
export function created<Data>(data: Data) {
  return { status: 201, body: { success: true, data } } as const;
}

/** Returns 200 with a page of a list or change feed. */
export function page<Data, Meta>({ data, meta }: { data: Data[]; meta: Meta }) {
  return { status: 200, body: { success: true, data, meta } } as const;
}
