import { openApiDocument } from '@itsm-api/contract/openapi';
import { lazy } from './lazy.ts';

/** Returns the OpenAPI document of the API. The first call builds it, because this takes as long as a start. */
export const findApiDocument = lazy(() => openApiDocument());
