//! Memory of what is read or compiled elsewhere: published draws, which room covers what, operators' own
//! pages and logos.

mod branding;
mod coverage;
mod draw;

pub(crate) use branding::{BrandingCache, RoomBranding};
pub(crate) use coverage::CoverageCache;
pub(crate) use draw::DrawCache;
