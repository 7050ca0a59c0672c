// The owner's document: kept as it comes, carried to the units, and the orders that its persons sign. Without it the units with an owner's key
// refuse each cut and unlock.
import { approvalOperations } from '../../api/commands/approvals.ts';
import { feature } from '../feature.ts';
import { ownerDelivery } from './owner-delivery.ts';
import { ownerOperations } from './owner-operations.ts';
import { signOperations } from './sign-command.ts';
import { signersOperations } from './signers.ts';

export const owner = feature({
  operations: [...signOperations, ...ownerOperations, ...signersOperations],
  follows: approvalOperations,
  slice: ownerDelivery,
});
