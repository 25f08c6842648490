import { ErrorCode } from '@itsm-api/contract';

/**
 * The error codes in the request log: the codes of the API, and a code for clients that disconnected before the
 * response.
 */
export const loggedErrorCodes = [...ErrorCode.options, 'CLIENT_DISCONNECTED'] as const;

export type LoggedErrorCode = (typeof loggedErrorCodes)[number];
