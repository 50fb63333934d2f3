//! The walk from one block that has the shape of a UUID to the next: a block is enciphered, or deciphered, until its six
//! fixed bits recur. From a block that has the shape it comes to one, since steps go round, and back to the very block.
//!
//! It takes 64 steps on average, each of which waits for the one before; so they are done in one call of the cipher, which
//! looks up once what the processor can do.

use aes::{
    Aes256, Block,
    cipher::{
        BlockBackend, BlockClosure, BlockDecrypt, BlockEncrypt, BlockSizeUser, consts::U16,
        inout::InOut,
    },
};

use super::layout;

/// Steps until the block has the shape of a UUID.
struct UntilUuid<'a>(&'a mut Block);

/// Enciphers `block` until it has the shape of a UUID.
pub(super) fn encipher_until_uuid(cipher: &Aes256, block: u128) -> u128 {
    let mut bytes = block.to_be_bytes().into();
    cipher.encrypt_with_backend(UntilUuid(&mut bytes));
    u128::from_be_bytes(bytes.into())
}

/// Deciphers `block` until it has the shape of a UUID.
pub(super) fn decipher_until_uuid(cipher: &Aes256, block: u128) -> u128 {
    let mut bytes = block.to_be_bytes().into();
    cipher.decrypt_with_backend(UntilUuid(&mut bytes));
    u128::from_be_bytes(bytes.into())
}

// === impl UntilUuid ===

impl BlockSizeUser for UntilUuid<'_> {
    type BlockSize = U16;
}

impl BlockClosure for UntilUuid<'_> {
    #[expect(
        clippy::inline_always,
        reason = "only what is inlined into the cipher's own function may use the processor's instructions inline"
    )]
    #[inline(always)]
    fn call<B: BlockBackend<BlockSize = U16>>(self, backend: &mut B) {
        loop {
            backend.proc_block(InOut::from(&mut *self.0));
            if layout::is_uuid(u128::from_be_bytes((*self.0).into())) {
                return;
            }
        }
    }
}
