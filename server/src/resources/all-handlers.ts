import type { Contract } from '@itsm-api/contract';
import type { RouterImplementation } from '@ts-rest/fastify';

/** The handlers of one resource: a function per endpoint of the contract, no more and no fewer. */
export type Handlers<Resource extends keyof Contract> = RouterImplementation<Contract[Resource]>;
