import type { Contract } from '@itsm-api/contract/ts-rest';
import type { RouterImplementation } from '@ts-rest/fastify';

/** The handlers of one resource: one function for each endpoint in the contract. */
export type Handlers<Resource extends keyof Contract> = RouterImplementation<Contract[Resource]>;
